#!/usr/bin/env python3
"""Pages of ten traces and every other kind of document in a real browser: headless Chromium, driven by Selenium.

Usage: check_pages.py TOOL [--screenshots DIRECTORY] [--traces PATH ...]

Opens each page from its file and looks at what a person would: no message on the console, nothing asked of the network,
no sideways scrolling at 400 pixels, tables that open, keys and clicks that zoom and tell, the same text without a
script, the verdict and the first change on the first screen, and paper. --traces adds the pages of other traces. Runs the
rules of axe-core where $DOCTOR_AXE names its axe.min.js (npm install axe-core). A hostile page is opened with a control that
must be found: a test that cannot fail proves nothing.

Exit status: 0 all is well, 1 something is wrong, 77 there is no Chromium or no Selenium here.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"

# Name, arguments of the tool. Ten traces of different kinds, then the other documents.
PAGES = [
    ("naive", ["traces/guide_naive.xplane.pb"]),
    ("prefetch", ["traces/guide_prefetch.xplane.pb"]),
    ("parallel_map", ["traces/guide_parallel_map.xplane.pb"]),
    ("interleave", ["traces/guide_parallel_interleave.xplane.pb"]),
    ("healthy", ["traces/healthy_tf2.4.trace.json.gz"]),
    ("no_tf_data", ["traces/no_tf_data_tf2.4.xplane.pb"]),
    ("cut_off", ["traces/cut_off_tf2.4.xplane.pb"]),
    ("keras", ["traces/keras_image_directory_tf2.21.xprof.trace.json.gz"]),
    ("gpus", ["field/gpu_multi_worker.xplane.pb.gz"]),
    ("hostile", ["outputs/hostile.trace.json"]),
    ("whatif", ["whatif", "traces/guide_naive.xplane.pb"]),
    ("steps", ["show", "steps", "traces/guide_naive.xplane.pb"]),
    ("fleet", ["fleet", "fleet/january.ndjson", "fleet/february.ndjson"]),
    ("fleet_over_time", ["fleet", "fleet/over_time.ndjson.gz"]),
    ("compare", ["compare", "traces/guide_naive.xplane.pb", "--", "traces/guide_prefetch.xplane.pb"]),
    ("compare_edited", ["compare", "compare/cache_removed/base.xplane.pb", "--", "compare/cache_removed/candidate.xplane.pb"]),
]

MOST_BYTES = 200_000
LARGE = {"gpus"}  # several hosts
MOST_PIXELS = 4_000


# The page that the Python package makes, of a program whose names would like to be markup.
FIX_PAGE = """
import sys
from tfdata_doctor_fix import judge, pages
from tfdata_doctor_fix.forecast import Prediction
from tfdata_doctor_fix.outcome import Outcome, Trial
from tfdata_doctor_fix.plan import NotTried

base, changed = (18.3, 16.6, 26.4), (40.2, 36.7, 37.5)
gain = judge.judge(base, changed, False)
where = "</td><script>window.ran = true</script>/a_folder_with_a_long_name/train.py:29"
kept = Trial("map in parallel", ("parallel_map:Map",), where, 29, Prediction(1.8, 1.5, 2.4, None), gain, base, changed,
             True, "", where, "same")
left = Trial("cache", ("cache:Map",), where, 31, None, None, (), (), False, "ValueError: <b> " + "x" * 400, where, "")
patch = "--- a/train.py\\n+++ b/train.py\\n@@ -1 +1 @@\\n-d.map(f) # </pre><script>window.ran = true</script>\\n+" + "d" * 300
outcome = Outcome("<script>window.ran = true</script>", [kept, left], [NotTried("prefetch", "<i>")], 18.3, 37.5, 39.0, gain,
                  "the one thread", "nothing is left", patch)
sys.stdout.write(pages.FORMATS["html"](outcome))
"""


class Faults:
    """What is wrong, by page."""

    def __init__(self) -> None:
        self.count = 0

    def check(self, holds: bool, page: str, what: str) -> None:
        if not holds:
            self.count += 1
            print(f"{page}: {what}")


def write_page(tool: str, arguments: list[str], file: pathlib.Path) -> None:
    # The path of a trace outside of testdata is whole, and stays as it is.
    given = [str(TESTDATA / part) if "/" in part else part for part in arguments]
    ended = subprocess.run([tool, *given, "--format", "html", "-o", str(file)], capture_output=True, text=True)
    if ended.returncode == 2 or not file.exists():
        sys.exit(f"{' '.join(arguments)}: {ended.stderr}")


def write_fix_page(file: pathlib.Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, "-c", FIX_PAGE], capture_output=True, text=True, env=environment)
    if ended.returncode != 0:
        sys.exit(f"the page of fix: {ended.stderr}")
    file.write_text(ended.stdout)


def check_fix_page(driver: webdriver.Chrome, file: pathlib.Path, look: str, axe: str, faults: Faults) -> None:
    """What the program's own pages are asked, too: a policy, no name that runs, and nothing wider than the page."""
    open_page(driver, file)
    check_looks(driver, "fix", look, axe, faults)
    ran = driver.execute_script("return window.ran === true || document.querySelectorAll('script').length > 0")
    faults.check(not ran, "fix", f"{look}: a name runs")
    policy = driver.find_elements(By.CSS_SELECTOR, "meta[http-equiv='Content-Security-Policy']")
    faults.check(bool(policy), "fix", f"{look}: there is no policy")
    page, text = driver.execute_script(
        "const look = getComputedStyle(document.documentElement); return [look.backgroundColor, look.color]"
    )
    wanted = ("rgb(13, 17, 23)", "rgb(230, 237, 243)") if look == "dark" else ("rgb(255, 255, 255)", "rgb(27, 31, 36)")
    faults.check((page, text) == wanted, "fix", f"{look}: {text} on {page}")


def browser(width: int = 1100, dark: bool = False, script: bool = True) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=1"):
        options.add_argument(argument)
    if dark:
        options.add_argument("--blink-settings=preferredColorScheme=0")
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    except WebDriverException as error:
        print(f"skipped: Chromium does not start here: {error.msg}")
        sys.exit(77)
    # A window is never as narrow as a telephone; the page can be told that it is.
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    return driver


def requests_of(driver: webdriver.Chrome) -> list[str]:
    """What the page asked for beside itself."""
    urls = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            urls.append(message["params"]["request"]["url"])
    return [url for url in urls if not url.startswith(("file:///", "data:"))]


def violations(driver: webdriver.Chrome, axe: str) -> list[Any]:
    # Through the debugger, which the page's policy does not govern.
    run = axe + "; axe.run(document).then(result => JSON.stringify(result.violations.map(v => [v.id, v.nodes.length])))"
    answer = driver.execute_cdp_cmd(
        "Runtime.evaluate", {"expression": run, "awaitPromise": True, "returnByValue": True}
    )
    return json.loads(answer["result"]["value"])


def open_page(driver: webdriver.Chrome, file: pathlib.Path) -> None:
    driver.get(file.as_uri())


def check_looks(driver: webdriver.Chrome, name: str, look: str, axe: str, faults: Faults) -> None:
    """What holds of every page, however wide and in whatever colours."""
    messages = [entry["message"] for entry in driver.get_log("browser")]
    faults.check(not messages, name, f"{look}: the console says {messages}")
    asked = requests_of(driver)
    faults.check(not asked, name, f"{look}: asks for {asked}")
    sideways = driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    faults.check(sideways <= 0, name, f"{look}: {sideways} pixels too wide")
    if axe:
        found = violations(driver, axe)
        faults.check(not found, name, f"{look}: axe finds {found}")


def check_numbers(driver: webdriver.Chrome, name: str, faults: Faults) -> None:
    """Each number on the page is the one that its data have at the place it names."""
    wrong = driver.execute_script(
        """const data = JSON.parse(document.getElementById('data').textContent);
        return [...document.querySelectorAll('data')].filter((element) => {
          const value = element.dataset.json.split('/').slice(1).reduce((of, key) => of?.[key], data);
          return Math.abs(value - Number(element.value)) > 1e-9 * Math.abs(value);
        }).map((element) => element.dataset.json);"""
    )
    faults.check(not wrong, name, f"numbers differ from the data: {wrong}")


def check_keys(driver: webdriver.Chrome, name: str, faults: Faults) -> None:
    """Keys zoom the picture that has the focus, and open the tables; a click tells what a span is."""
    figures = driver.find_elements(By.CSS_SELECTOR, "figure.plot")
    if not figures:
        return
    inner = figures[0].find_element(By.CSS_SELECTOR, "svg.z")
    driver.execute_script("arguments[0].focus()", figures[0])
    figures[0].send_keys("+")
    faults.check(inner.get_attribute("width") == "200%", name, "+ does not zoom")
    before = inner.get_attribute("x")
    figures[0].send_keys(Keys.ARROW_RIGHT)
    faults.check(inner.get_attribute("x") != before, name, "an arrow does not move the picture")
    figures[0].send_keys("0")
    faults.check(inner.get_attribute("width") == "100%", name, "0 does not reset the zoom")
    width = figures[0].size["width"]
    ActionChains(driver).move_to_element_with_offset(figures[0], -width // 4, 0).click_and_hold().move_by_offset(
        width // 4, 0
    ).release().perform()
    faults.check(inner.get_attribute("width") not in ("100%", None), name, "dragging does not zoom")
    driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('dblclick'))", figures[0])
    faults.check(inner.get_attribute("width") == "100%", name, "a double click does not reset the zoom")
    spans = driver.find_elements(By.CSS_SELECTOR, "figure.plot [data-ref] rect")
    if spans:
        driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", spans[0])
        told = driver.find_elements(By.CSS_SELECTOR, ".span-details dd")
        faults.check(bool(told), name, "a click on a span tells nothing")
        figure = spans[0].find_element(By.XPATH, "ancestor::*[local-name()='figure'][1]")
        figure.send_keys("nn")
        words = figure.find_element(By.CSS_SELECTOR, ".span-details").text
        faults.check(len(figure.find_elements(By.CSS_SELECTOR, ".current")) == 1, name, "n does not go to the next span")
        faults.check(bool(words) and "_" not in words.split("\n")[1], name, f"n does not tell in words: {words}")
    tables = driver.find_elements(By.CSS_SELECTOR, "details.table")
    if tables:
        driver.find_element(By.TAG_NAME, "body").send_keys("t")
        faults.check(all(table.get_attribute("open") for table in tables), name, "t does not open the tables")


def check_size(driver: webdriver.Chrome, name: str, file: pathlib.Path, faults: Faults) -> None:
    """The page of an ordinary trace is small, and nobody scrolls far."""
    size = file.stat().st_size
    faults.check(size <= MOST_BYTES or name in LARGE, name, f"{size} bytes are more than {MOST_BYTES}")
    height = driver.execute_script("return document.documentElement.scrollHeight")
    faults.check(height <= MOST_PIXELS, name, f"{height} pixels are more than {MOST_PIXELS}")


def check_first_screen(driver: webdriver.Chrome, name: str, faults: Faults) -> None:
    """What somebody must see who does not scroll: the verdict, every banner, and what to change first."""
    below = driver.execute_script(
        """const needed = ['#verdict h1', '#verdict .banner', '#advice h2', '#advice > ol > li:first-child > p:first-child'];
        return needed.filter((selector) => [...document.querySelectorAll(selector)]
            .some((element) => element.getBoundingClientRect().bottom + window.scrollY > window.innerHeight));"""
    )
    faults.check(not below, name, f"not on the first screen: {below}")


def check_links(driver: webdriver.Chrome, name: str, faults: Faults) -> None:
    """A link to a part of the page leads there, and unfolds it."""
    for link in driver.find_elements(By.CSS_SELECTOR, "a[href^='#']"):
        target = link.get_attribute("href").split("#", 1)[1]
        found = driver.find_elements(By.ID, target)
        faults.check(bool(found), name, f"no #{target} on the page")
        driver.execute_script("arguments[0].click()", link)
        if found and found[0].tag_name == "details":
            opened = driver.execute_async_script("setTimeout(() => arguments[1](arguments[0].open), 0)", found[0])
            faults.check(bool(opened), name, f"#{target} stays folded")


def check_hostile(tool: str, folder: pathlib.Path, driver: webdriver.Chrome, faults: Faults) -> None:
    """No name of a trace runs: with a page that was changed by hand, in which one would."""
    page = (folder / "hostile.html").read_text()
    control = folder / "control.html"
    policy_end = page.index("</title>")
    control.write_text(
        page[: page.index("<meta http-equiv")]
        + page[page.index("<meta name=\"viewport\"") : policy_end]
        + "</title><script>window.ran = true</script>"
        + page[policy_end + len("</title>") :]
    )
    open_page(driver, control)
    faults.check(driver.execute_script("return window.ran === true"), "hostile", "the control does not run")
    control.write_text(page.replace("</title>", "</title><script>window.ran = true</script>", 1))
    open_page(driver, control)
    faults.check(not driver.execute_script("return window.ran === true"), "hostile", "the policy lets a script run")
    driver.get_log("browser")
    open_page(driver, folder / "hostile.html")
    faults.check(
        driver.execute_script("return document.querySelectorAll('script').length") == 2, "hostile", "more scripts"
    )


def check_all(
    tool: str, folder: pathlib.Path, screenshots: pathlib.Path | None, axe: str, pages: list[tuple[str, list[str]]]
) -> int:
    faults = Faults()
    for name, arguments in pages:
        write_page(tool, arguments, folder / f"{name}.html")
    write_fix_page(folder / "fix.html")
    texts = {}
    for look, settings in (("light", {}), ("dark", {"dark": True}), ("narrow", {"width": 400})):
        driver = browser(**settings)
        try:
            for name, _ in pages:
                open_page(driver, folder / f"{name}.html")
                check_looks(driver, name, look, axe, faults)
                if look == "light":
                    check_size(driver, name, folder / f"{name}.html", faults)
                    texts[name] = driver.find_element(By.TAG_NAME, "main").text
                    check_numbers(driver, name, faults)
                    check_first_screen(driver, name, faults)
                    check_keys(driver, name, faults)
                    check_links(driver, name, faults)
                if screenshots:
                    open_page(driver, folder / f"{name}.html")
                    save_screenshot(driver, screenshots / f"{name}-{look}.png")
            check_fix_page(driver, folder / "fix.html", look, axe, faults)
            if screenshots:
                save_screenshot(driver, screenshots / f"fix-{look}.png")
            if look == "light":
                check_hostile(tool, folder, driver, faults)
        finally:
            driver.quit()
    driver = browser(script=False)
    try:
        for name, _ in pages:
            open_page(driver, folder / f"{name}.html")
            without = driver.find_element(By.TAG_NAME, "main").text
            # Buttons that copy are all that a script adds.
            faults.check(without == re.sub(r"^Copy\n", "", texts[name], flags=re.MULTILINE), name, "says less without a script")
    finally:
        driver.quit()
    print(f"{len(pages) + 1} pages, {faults.count} faults" + ("" if axe else "; without axe-core"))
    return 1 if faults.count else 0


def save_screenshot(driver: webdriver.Chrome, file: pathlib.Path) -> None:
    answer = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    file.write_bytes(base64.b64decode(answer["data"]))
    pdf = driver.execute_cdp_cmd("Page.printToPDF", {}) if file.stem.endswith("-light") else None
    if pdf:
        file.with_name(file.stem.removesuffix("-light") + "-print.pdf").write_bytes(base64.b64decode(pdf["data"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--traces", type=pathlib.Path, nargs="+", default=[])
    given = parser.parse_args()
    if not pathlib.Path("/usr/bin/chromium").exists() or not pathlib.Path("/usr/bin/chromedriver").exists():
        print("skipped: chromium and chromium-driver are not installed")
        return 77
    axe_file = os.environ.get("DOCTOR_AXE", "")
    axe = pathlib.Path(axe_file).read_text() if axe_file else ""
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # Traces of several folders may have one name.
        more = [(f"{number}-{trace.name}", [str(trace.resolve())]) for number, trace in enumerate(given.traces)]
        return check_all(given.tool, pathlib.Path(folder), given.screenshots, axe, PAGES + more)


if __name__ == "__main__":
    sys.exit(main())
