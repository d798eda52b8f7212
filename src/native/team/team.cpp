/// The threads of teams: how they wait for work, and when a team is made smaller.
///
/// A member that has nothing to do spins for some microseconds, then gives way for a while, then
/// sleeps. Teams are kept and used again; two calls at the same time have a team each.

#include "team/team.h"

#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#if defined(_WIN32)
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <pthread.h>
#include <sched.h>
#endif

namespace pacboost {
namespace {

constexpr int SPINS = 2'000;
/// Times that a member gives way before it sleeps: about 2 ms on an idle core.
constexpr int LOOKS = 4'000;
/// Minimum share of their time that members compute or spin. If it is less, other programs use their
/// cores, because a member that waits gives way.
constexpr double MIN_BUSY_SHARE = 1.0 / 3;
/// Seconds before a team is judged; between tests, or halved at first; and halved at most.
constexpr double SECONDS_TO_JUDGE = 0.02, MIN_SECONDS_HALVED = 0.5, MAX_SECONDS_HALVED = 8;
/// Barriers of a test. They take microseconds on idle cores. If other programs use the cores, each
/// takes as long as the others' turns, about 10 ms, and those of a single tree would take a second.
constexpr int MEETINGS = 8;
constexpr double SECONDS_BETWEEN_POLLS = 0.1;
/// A job is its number times this, plus the size of its team.
constexpr i64 NEXT_JOB = 1'024;

INLINE void spin() {
#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER) && !defined(__clang__)
    _mm_pause();
#else
    __builtin_ia32_pause();
#endif
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

INLINE void give_way() {
#if defined(_WIN32)
    SwitchToThread();
#else
    sched_yield();
#endif
}

/// Wait until a number changes; return false if it has not after `looks` (-1: for ever).
bool wait_while(const std::atomic<i64>& number, i64 value, int looks) {
    for (int k = 0; k < SPINS; ++k) {
        if (number.load() != value) return true;
        spin();
    }
    for (; looks != 0; --looks) {
        if (number.load() != value) return true;
        give_way();
    }
    return false;
}

double wall_seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// The time that all threads of this process have computed.
double busy_seconds() {
#if defined(_WIN32)
    FILETIME created, ended, kernel, user;
    GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
    auto seconds = [](FILETIME t) { return ((u64(t.dwHighDateTime) << 32) + t.dwLowDateTime) * 1e-7; };
    return seconds(kernel) + seconds(user);
#else
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
#endif
}

class Team {
 public:
    ~Team() {
        // They read memory that is about to be freed.
        for (auto& helper : helpers_) {
            helper->closed.store(true);
            helper->bell.release();
        }
        job_.fetch_add(NEXT_JOB);
        for (auto& helper : helpers_) helper->thread.join();
    }

    void run(i64 size, Body body, void* work, bool (*poll)()) {
        if (size > 1 && wall_seconds() > until_) test(size);
        poll_ = poll;
        next_poll_ = poll ? wall_seconds() + SECONDS_BETWEEN_POLLS : 0;
        board_.board.stop.store(0);
        call(std::min(size, max_size_), body, work);
    }

 private:
    friend void pacboost::look_for_interrupt(const Member&);

    struct Helper {
        i64 number = 0;
        i64 last_job = 0;
        alignas(128) std::atomic<bool> sleeps{false};
        std::atomic<bool> closed{false};
        std::counting_semaphore<8> bell{0};
        std::thread thread;
    };

    /// Judge a team by barriers alone, because its next kernel may have thousands of them.
    void test(i64 size) {
        max_size_ = MAX_MEMBERS, until_ = wall_seconds() + MIN_SECONDS_HALVED;
        wall_ = used_ = 0;
        call(
            size,
            [](void*, const Member& member) {
                for (int k = 0; k < MEETINGS; ++k) meet(member);
            },
            nullptr);
    }

    void call(i64 size, Body body, void* work) {
        if (size <= 1) {
            body(work, Member{0, 1, &board_.board});
            return;
        }
        double began = wall_seconds(), used = busy_seconds();
        size = gather(size);
        body_ = body, work_ = work;
        done_.store(0);
        // The size is part of the number: members that take no part may read it late.
        job_.store((job_.load() / NEXT_JOB + 1) * NEXT_JOB + size);
        for (i64 k = 1; k < size; ++k) {
            Helper& helper = *helpers_[std::size_t(k - 1)];
            if (helper.sleeps.exchange(false)) helper.bell.release();
        }
        body(work, Member{0, size, &board_.board});
        for (i64 done = done_.load(); done < size - 1; done = done_.load()) wait_while(done_, done, -1);
        judge(size, wall_seconds() - began, busy_seconds() - used);
    }

    /// Start threads that are missing; return the number of members, fewer if no thread can be had.
    i64 gather(i64 size) {
        while (i64(helpers_.size()) < size - 1) {
            auto helper = std::make_unique<Helper>();
            helper->number = i64(helpers_.size()) + 1;
            helper->last_job = job_.load();
            try {
                helper->thread = std::thread(&Team::work, this, helper.get());
            } catch (const std::system_error&) {
                return i64(helpers_.size()) + 1;
            }
            helpers_.push_back(std::move(helper));
        }
        return size;
    }

    void work(Helper* helper) {
        i64 job = helper->last_job;
        for (;;) {
            if (!wait_while(job_, job, LOOKS)) {
                helper->sleeps.store(true);
                // Who gives a job after this sees it asleep, and rings the bell.
                if (job_.load() == job || !helper->sleeps.exchange(false)) helper->bell.acquire();
            }
            if (helper->closed.load()) return;
            i64 now = job_.load();
            if (now == job) continue;
            job = now;
            i64 size = job % NEXT_JOB;
            if (helper->number < size) {  // nothing changes before all members are done
                body_(work_, Member{helper->number, size, &board_.board});
                done_.fetch_add(1);
            }
        }
    }

    /// Halve the team for a while if its members have mostly waited for each other: a member without
    /// a core makes all others wait at every barrier.
    void judge(i64 size, double wall, double used) {
        wall_ += wall;
        used_ += used / double(size);
        if (wall_ < SECONDS_TO_JUDGE) return;
        if (is_to_be_halved(1, wall_, used_)) {
            max_size_ = size / 2, until_ = wall_seconds() + pause_;
            pause_ = std::min(2 * pause_, MAX_SECONDS_HALVED);
        } else if (max_size_ == MAX_MEMBERS) {
            pause_ = MIN_SECONDS_HALVED;
        }
        wall_ = used_ = 0;
    }

    struct OwnBoard {
        Board board;
        Team* team;
    };
    OwnBoard board_{{}, this};
    alignas(128) std::atomic<i64> job_{0};
    alignas(128) std::atomic<i64> done_{0};
    alignas(128) Body body_ = nullptr;
    void* work_ = nullptr;
    bool (*poll_)() = nullptr;
    double next_poll_ = 0;
    std::vector<std::unique_ptr<Helper>> helpers_;
    i64 max_size_ = MAX_MEMBERS;
    double until_ = 0, pause_ = MIN_SECONDS_HALVED, wall_ = 0, used_ = 0;
};

/// Teams that wait for work. They are never destroyed by the end of the program, but by `close_teams`.
struct IdleTeams {
    std::mutex lock;
    std::vector<std::unique_ptr<Team>> teams;

    std::unique_ptr<Team> take() {
        std::lock_guard guard(lock);
        if (teams.empty()) return std::make_unique<Team>();
        auto team = std::move(teams.back());
        teams.pop_back();
        return team;
    }
    void give_back(std::unique_ptr<Team> team) {
        std::lock_guard guard(lock);
        teams.push_back(std::move(team));
    }
};

IdleTeams* idle = new IdleTeams;

#if !defined(_WIN32)
// Threads do not survive a fork: the child starts with no teams, and leaves the memory of these.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { idle = new IdleTeams; });
#endif

}  // namespace

bool is_to_be_halved(i64 size, double wall, double used) { return used / double(size) < MIN_BUSY_SHARE * wall; }

bool last_to_arrive(const Member& member) {
    if (member.team == 1) return true;
    Board& board = *member.board;
    i64 phase = board.phase.load();
    if (board.arrived.fetch_add(1) == member.team - 1) return true;
    wait_while(board.phase, phase, -1);
    return false;
}

void release(const Member& member) {
    if (member.team > 1) {
        member.board->arrived.store(0);
        member.board->phase.fetch_add(1);
    }
}

void look_for_interrupt(const Member& member) {
    if (member.number > 0) return;
    // The board is the first member of a team's own one.
    Team& team = *reinterpret_cast<Team::OwnBoard*>(member.board)->team;
    if (!team.poll_ || wall_seconds() < team.next_poll_) return;
    team.next_poll_ = wall_seconds() + SECONDS_BETWEEN_POLLS;
    if (team.poll_()) member.board->stop.store(1);
}

void run_team(i64 size, Body body, void* work, bool (*poll)()) {
    auto team = idle->take();
    team->run(std::max<i64>(1, std::min(size, MAX_MEMBERS)), body, work, poll);
    idle->give_back(std::move(team));
}

void close_teams() {
    std::vector<std::unique_ptr<Team>> teams;
    {
        std::lock_guard guard(idle->lock);
        teams.swap(idle->teams);
    }
}

}  // namespace pacboost
