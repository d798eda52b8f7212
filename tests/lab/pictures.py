"""Take the pictures of the lab in the docs: `python -m tests.lab.pictures`; needs chromium."""

import base64
import io
import tempfile
from pathlib import Path

from PIL import Image

from pacboost.lab.app import Lab
from tests.lab.lab_browser import LabBrowser, serving

IMAGES = Path(__file__).parents[2] / "docs" / "images"
RUN = "{...lab.state.lanes[0].run, booster: {name: 'adaboost', parameters: {}}, data: %s}"
SPIRALS = "{kind: 'spirals', n: 250, seed: 2}"
NOISY = "{kind: 'gaussians', n: 200, noise: 0.15, spread: 0.45, seed: 3}"
TREE = "{name: 'tree', parameters: {max_leaves: 4, max_depth: 6}}"


def lanes(*specs: str) -> str:
    return "[" + ", ".join(f"{{run: {spec}, at: 0}}" for spec in specs) + "]"


def shot(browser: LabBrowser, wait: float = 0.7) -> Image.Image:
    browser.settle(wait)
    taken = browser.ask("Page.captureScreenshot")
    return Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")


def keep(picture: Image.Image, name: str) -> None:
    picture.save(IMAGES / f"lab-{name}.png", optimize=True)


def panel(browser: LabBrowser, tab: str, name: str) -> None:
    """Show a tab, and keep a picture of it alone."""
    browser.run(f"lab.setTab({tab!r})")
    browser.run("document.querySelector('#player').style.visibility = 'hidden'")
    browser.settle(1.2)
    box = browser.run(
        f"(box => [box.left + scrollX, box.top + scrollY, box.width, box.height])"
        f"(document.querySelector('#panel-{tab}').getBoundingClientRect())"
    )
    left, top, wide, high = box
    clip = {"x": left - 14, "y": top, "width": wide + 28, "height": min(high, 1000), "scale": 1}
    taken = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
    keep(picture, name)
    browser.run("document.querySelector('#player').style.visibility = ''")


def main_pictures(browser: LabBrowser, lab: Lab) -> None:
    browser.start(lab, "{rounds: 10}", width=1400, height=860)
    browser.run("lab.goto(3)")
    keep(shot(browser), "main")
    browser.run("lab.goto(1); lab.setTool('rule')")
    browser.until("lab.own?.rule")
    place = browser.run("[lab.run().data.box[1] * 0.8, 5]")
    browser.drag(browser.point(place[0], 5), browser.point(7.5, 5))
    browser.run("document.querySelector('.swap').click()")
    browser.run("scrollTo(0, 0)")
    keep(shot(browser), "own-rule")
    spec = RUN % "{kind: 'moons', n: 200, noise: 0.2, seed: 5}"
    large = "learner: {name: 'tree', parameters: {max_leaves: 12, max_depth: 6}}"
    brown = "booster: {name: 'brown', parameters: {epsilon: 0.25}}"
    both = lanes(f"{{...{spec}, {large}}}", f"{{...{spec}, {large}, {brown}}}")
    browser.take(f"{{lanes: {both}, rounds: 40, round: 40, tab: 'compare'}}")
    keep(shot(browser), "forks")
    panel(browser, "compare", "compare")


def panels(browser: LabBrowser, lab: Lab) -> None:
    browser.start(lab, f"{{lanes: {lanes(RUN % NOISY)}, rounds: 60, round: 40}}", width=1400)
    panel(browser, "certificates", "certificates")
    panel(browser, "weights", "weights")
    panel(browser, "planner", "planner")
    browser.run("lab.setTab('filtering')")
    browser.click(".start-filter")
    browser.until("lab.lastFiltering")
    panel(browser, "filtering", "filtering")
    for name in ("pac", "shatters", "measure"):
        browser.run(f"lab.setTab('instruments'); lab.panel('instruments').open('{name}')")
        browser.click(f"#run-{name}")
        browser.until(f"!document.querySelector('#run-{name}').disabled")
        panel(browser, "instruments", name)


def others(browser: LabBrowser, lab: Lab) -> None:
    spec = f"{{...{RUN % SPIRALS}, learner: {TREE}}}"
    browser.start(lab, f"{{lanes: {lanes(spec)}, rounds: 150, round: 150}}", height=860, dark=True)
    keep(shot(browser), "dark")
    browser.start(lab, "{rounds: 3, round: 0}", width=390, height=844)
    browser.run("labGuide.begin('toy')")
    browser.settle(0.5)
    browser.click("#story .next")
    phone = [shot(browser, 1.0)]
    browser.run("labGuide.stop(); lab.goto(2); scrollTo(0, 0)")
    phone.append(shot(browser))
    browser.run("scrollTo(0, 560)")
    phone.append(shot(browser))
    row = Image.new("RGB", (3 * 390 + 48, 844), "#ffffff")
    for k, picture in enumerate(phone):
        row.paste(picture, (k * 414, 0))
    keep(row, "phone")


def animation(browser: LabBrowser, lab: Lab) -> None:
    """Draw rounds of AdaBoost over stumps on two rings, for the README."""
    data = "{kind: 'rings', n: 120, seed: 1}"
    browser.start(lab, f"{{lanes: {lanes(RUN % data)}, rounds: 40}}", width=1200, height=830)
    browser.run("document.documentElement.style.overflow = 'hidden'")
    frames, times = [], []
    for number in [*range(13), *range(14, 41, 2)]:
        browser.run(f"lab.goto({number})")
        frames.append(shot(browser, 0.45).resize((840, 581), Image.Resampling.LANCZOS))
        times.append(1800 if number in (0, 40) else 900 if number < 4 else 400)
    palette = frames[-1].quantize(200, method=Image.Quantize.FASTOCTREE)
    quantised = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    quantised[0].save(
        IMAGES / "lab.gif", save_all=True, append_images=quantised[1:], duration=times, loop=0,
        optimize=True,
    )  # fmt: skip


def main() -> None:
    """Take all pictures."""
    with serving() as lab, tempfile.TemporaryDirectory() as home, LabBrowser(Path(home)) as browser:
        browser.ask("Emulation.setScrollbarsHidden", hidden=True)
        for task in (main_pictures, panels, others, animation):
            task(browser, lab)


if __name__ == "__main__":
    main()
