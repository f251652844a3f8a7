"""Goes through the page of the server by keys alone: drive.py BROWSER LINK LINK-OF-100,000-MESSAGES LINK-OF-WHAT-IS-FORGOTTEN [FOLDER FOR PICTURES]"""

import json
import sys
import time
import urllib.parse
import urllib.request

from playwright.sync_api import sync_playwright

import health
import keyboard

BROWSER, SAMPLE, LARGE, OWN, PICTURES = (sys.argv[1:] + [""])[:5]
HOSTILE = '<script>window.hit = 1</script><img src=x onerror="window.hit = 1"> \u202egnp.exe \u2066hidden\u2069 </textarea>{{hit}}'
VIEWS = ["sessions", "context", "search", "records", "forget", "health"]


class Site:
    """A server, and a page of it that somebody drives by keys."""

    def __init__(self, browser, link, scheme="light"):
        self.base, self.token = link.split("#token=")
        self.link, self.foreign, self.wrong = link, [], []
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
        self.page = context.new_page()
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type in ["error", "warning"] else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked(request.url))

    def asked(self, url):
        if not url.startswith((self.base, "data:")):
            self.foreign.append(url)

    def call(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.base}v1/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def open(self):
        self.page.goto(self.link)
        self.shown("#/sessions")
        assert self.token not in self.page.url, "the token stays in the address"

    def go(self, address):
        self.page.goto(self.base + address)
        self.shown(address)

    def shown(self, address):
        self.page.wait_for_function("address => document.querySelector('main').dataset.shown === address", arg=address)

    def begins(self, address):
        self.page.wait_for_function("address => (document.querySelector('main').dataset.shown ?? '').startsWith(address)", arg=address)

    def told(self, address, path, *keys):
        """Presses keys that show a view, and returns what the server told the page of a path for it."""
        self.page.evaluate("delete document.querySelector('main').dataset.shown")
        with self.page.expect_response(lambda answer: answer.url.removeprefix(f"{self.base}v1/").split("?")[0] == path) as answer:
            self.press(*keys)
        self.begins(address)
        return answer.value.json()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.insert_text(text)

    def tab_to(self, selector, back=False):
        for _ in range(80):
            if self.is_at(selector):
                return
            self.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"no key leads to {selector}")

    def step_to(self, selector, key="j"):
        """Steps from item to item of a list."""
        for _ in range(120):
            if self.is_at(selector):
                return
            self.press(key)
        raise AssertionError(f"no step leads to {selector}")

    def is_at(self, selector):
        return self.page.evaluate("selector => document.activeElement.matches(selector)", selector)

    def text(self):
        return self.page.inner_text("main")

    def table(self, number=0):
        """Returns the rows of a table."""
        rows = self.page.locator("main table").nth(number).locator("tbody tr")
        return rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")

    def is_dark(self):
        back = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(back.split("(")[1].split(",")[0]) < 100

    def picture(self, name):
        if PICTURES:
            self.page.screenshot(path=f"{PICTURES}/{name}.png")

    def end(self):
        assert not self.wrong, self.wrong
        assert not self.foreign, self.foreign
        self.page.context.close()


def each_view(browser, scheme):
    site = Site(browser, SAMPLE, scheme)
    site.open()
    keyboard.shows_sessions(site, site.call("GET", "sessions?limit=50")["sessions"])
    for number, view in enumerate(VIEWS, 1):
        site.press(str(number))
        site.begins(f"#/{view}")
        assert site.page.evaluate("document.querySelector('nav [aria-current]').textContent").lower() == view
        site.picture(f"{scheme}-{view}")
    health.shows_what_is_told(site)
    assert site.is_dark() == (scheme == "dark")
    site.press("?")
    assert site.page.evaluate("document.getElementById('help').open")
    site.press("Escape")
    site.end()


def a_session_and_its_context(site):
    site.open()
    site.press("j", "j", "j", "Enter")
    site.begins("#/sessions/")
    session = urllib.parse.unquote(site.page.url.split("#/sessions/")[1])
    told = site.call("GET", f"sessions/{urllib.parse.quote(session)}/messages?view=all&limit=100")
    seqs = site.page.eval_on_selector_all("#timeline .item", "items => items.map(item => Number(item.dataset.seq))")
    assert seqs == [row["seq"] for row in told["shown"]], seqs
    site.picture("timeline")
    site.tab_to("a[href^='#/context/']")
    site.press("Enter")
    site.begins("#/context/")
    site.press("/")
    site.type("Is the cake safe for me?")
    site.press("Tab", "Control+a")
    site.type("900")
    site.press("Enter")
    site.begins(f"#/context/{urllib.parse.quote(session)}?q=Is")
    body = {"query": "Is the cake safe for me?", "budget": 900, "recall": 5}
    receipt = site.call("POST", f"sessions/{urllib.parse.quote(session)}/context", body)["receipt"]
    bar = site.page.eval_on_selector_all("#bar i", "parts => parts.map(part => [part.dataset.part, Number(part.dataset.tokens), part.getBoundingClientRect().width])")
    told = {part: tokens for part, tokens, _ in bar if part not in ["free", "reserved"]}
    tokens = receipt["tokens"]
    names = ["instructions", "synopsis", "summaries", "history", "recalled", "query"]
    assert told == {name: tokens.get(name, 0) for name in names if tokens.get(name, 0)}, (told, tokens)
    assert int(site.page.get_attribute("#total", "data-tokens")) == tokens["total"] == sum(told.values())
    whole = sum(width for _, _, width in bar)
    for part, number, width in bar:
        assert abs(width / whole - number / (tokens["limit"] + tokens["reserved"])) < 0.02, (part, width, number)
    items = site.page.eval_on_selector_all("#sent .item", "items => items.map(item => [item.dataset.item, item.querySelector('.words')?.textContent ?? ''])")
    assert [item for item, _ in items if item] == [one["item"] for one in receipt["included"]]
    assert all(words.strip() for _, words in items), items
    reasons = site.page.eval_on_selector_all("[data-reason]", "all => all.map(one => one.dataset.reason)")
    assert set(reasons) == {one["reason"] for one in receipt["search"]["left_out"]}, reasons
    site.picture("context")


def what_left_the_window(site):
    first = site.call("GET", "sessions/garden/messages?after=0&limit=1")["shown"][0]
    site.call("POST", "forget", {"ids": [site.call("GET", "sessions/garden/messages?limit=1")["shown"][0]["id"]]})
    site.press("Escape", "1")
    site.shown("#/sessions")
    site.step_to("a[href='#/sessions/garden']")
    site.press("Enter")
    site.shown("#/sessions/garden")
    states = site.page.eval_on_selector_all("#timeline .item", "items => items.map(item => item.dataset.state)")
    assert {"active", "archived", "summary", "forgotten"} <= set(states), states
    assert first["text"] in site.text() and "for 1 to" in site.text()
    site.picture("garden")


def a_search(site):
    site.press("Escape", "3")
    site.begins("#/search")
    site.press("/")
    site.type("what did the vet say about chocolate")
    site.tab_to("#kind")
    site.press("m")
    site.tab_to("#filter")
    site.type("role = user")
    site.tab_to("#explain")
    site.press("Space", "Enter")
    site.begins("#/search?q=what")
    body = {"query": "what did the vet say about chocolate", "filter": "role = user", "kind": "message", "explain": True}
    told = site.call("POST", "search", body)
    hits = site.page.eval_on_selector_all("#hits .item", "items => items.map(item => item.dataset.id)")
    assert hits == [hit["id"] for hit in told["hits"]] and len(hits) > 3, hits
    assert site.page.locator("#explained").inner_text().startswith("Searched for")
    assert site.page.locator("#hits mark").count() > 3 and site.page.locator("#hits .signal").count() > 10
    site.picture("search")
    site.press("Escape", "j", "Enter")
    site.begins("#/sessions/")
    assert site.page.locator(".item.here").count() == 1


def records_and_forgetting(site):
    first = site.call("POST", "records", {"text": "Bolota weighs 9.4 kg", "tags": ["dog"], "valid_from": "2026-01-01T00:00:00Z"})["id"]
    second = site.call("POST", f"records/{first}/supersede", {"text": "Bolota weighs 8.6 kg, on the new food"})["id"]
    site.press("4")
    site.begins("#/records")
    site.tab_to("#all")
    site.press("Space")
    told = site.told("#/records?all=true", "records", "Enter")["records"]
    assert [record["id"] for record in told] == [record["id"] for record in site.call("GET", "records?all=true&limit=100")["records"]]
    keyboard.shows_records(site, "main .item", told)
    assert "superseded" in site.text() and "current" in site.text() and "true from 2026-01-01" in site.text()
    site.picture("records")
    site.press("Escape")
    site.step_to(f"[data-id='{first}']")
    site.press("Enter")
    site.shown(f"#/records/{first}")
    keyboard.shows_record(site, site.call("GET", f"records/{first}"))
    chain = site.page.eval_on_selector_all("#chain .item", "items => items.map(item => item.dataset.id)")
    assert chain == [first, second], chain
    site.picture("record")
    site.tab_to(f"#chain [data-id='{second}'] a[href^='#/forget']")
    site.press("Enter")
    site.begins("#/forget?ids=")
    assert "8.6 kg" in site.text()
    site.picture("forget")
    site.tab_to("#confirm")
    keyboard.forgets(site)
    assert "deletion confirmed" in site.text(), site.text()
    assert site.page.get_attribute("#proof", "data-left") == "0"
    site.picture("forgotten")
    site.tab_to("a[href^='#/search?q=Bolota']")
    site.press("Enter")
    site.begins("#/search?q=Bolota")
    assert second not in site.page.content()


def what_is_hostile(site):
    name = '"><script>window.hit = 1</script>'
    path = f"sessions/{urllib.parse.quote(name, safe='')}"
    large = "many words " * 95_000 + "end of the large message"
    site.call("POST", f"{path}/messages", {"messages": [{"role": "user", "content": HOSTILE, "name": "<b>eve</b>"}, {"role": "user", "content": large}]})
    record = site.call("POST", "records", {"text": HOSTILE, "kind": "<i>kind</i>", "tags": ["<b>tag</b>"]})["id"]
    quoted = urllib.parse.quote(name, safe="!~*'()")
    question = urllib.parse.quote(HOSTILE)
    for address in ["#/sessions", f"#/sessions/{quoted}", f"#/context/{quoted}?q={question}&budget=1000000", f"#/search?q={question}&explain=true",
                    "#/records", f"#/records/{record}", f"#/forget?ids={record}", f"#/forget?session={quoted}"]:
        site.go(address)
        assert "<script>" in site.text() or "window.hit" in site.page.content(), address
        assert site.page.evaluate("window.hit === undefined && document.querySelectorAll('main script, main img, main b b, main i > i').length === 0"), address
        assert "\u202e" not in site.text() and "\u2066" not in site.text(), address
    site.go(f"#/sessions/{quoted}")
    assert "U+202E" in site.text() and HOSTILE.split("\u202e")[0].strip() in site.text()
    assert "end of the large message" not in site.text()
    site.tab_to("#timeline button.link")
    site.press("Enter")
    site.page.wait_for_function("document.querySelector('main').textContent.includes('end of the large message')")
    # A session is forgotten by its keys too.
    site.go(f"#/forget?session={quoted}")
    site.tab_to("#confirm")
    site.press("Enter")
    site.page.wait_for_selector("#proof")
    assert site.page.get_attribute("#proof", "data-left") == "0"


def what_is_wrong_is_told(browser):
    site = Site(browser, SAMPLE)
    site.open()
    site.go("#/search?filter=" + urllib.parse.quote("<script>window.hit = 1</script>"))
    assert site.page.locator("[role=alert]").count() == 1 and site.page.evaluate("window.hit === undefined")
    site.page.goto("about:blank")
    site.page.goto(site.base + "#token=mem_0123456789abcdef_0")
    site.page.wait_for_selector("#token")
    site.type(site.token)
    site.press("Enter")
    site.begins("#/sessions")
    site.page.wait_for_selector("main .row")
    # The browser itself says so of both answers; nothing else is told.
    assert len(site.wrong) == 2 and all(said.startswith("Failed to load resource") for said in site.wrong), site.wrong
    assert not [url for url in site.foreign if url != "about:blank"]


def many_messages(browser):
    site = Site(browser, LARGE)
    site.open()
    # The browser has started by now; what is measured is the page, from nothing.
    begun = time.monotonic()
    site.page.goto("about:blank")
    site.page.goto(f"{site.base}#/sessions/large")
    site.page.wait_for_selector("#timeline [data-seq='100000']")
    took = time.monotonic() - begun
    print(f"100,000 messages: the newest stand there after {took * 1000:.0f} ms")
    assert took < 1, took
    rows = site.page.locator("#timeline .item").count()
    site.tab_to("#earlier")
    site.press("Enter")
    site.page.wait_for_function("rows => document.querySelectorAll('#timeline .item').length > rows", arg=rows)
    site.tab_to("#at", back=True)
    site.type("50000")
    site.press("Enter")
    site.shown("#/sessions/large?at=50000")
    assert site.page.evaluate("document.activeElement.dataset.seq") == "50000"
    site.picture("large")
    message = site.call("GET", "sessions/large/messages?after=49999&limit=1")["shown"][0]
    site.call("POST", "forget", {"ids": [message["id"]]})
    site.page.goto("about:blank")
    site.go("#/sessions/large?at=50000")
    states = set(site.page.eval_on_selector_all("#timeline .item", "items => items.map(item => item.dataset.state)"))
    print(f"around the middle stand messages that are {', '.join(sorted(states))}")
    assert "forgotten" in states, states
    last = max(site.page.eval_on_selector_all("#timeline .item", "items => items.map(item => Number(item.dataset.seq))"))
    site.tab_to("#later")
    site.press("Enter")
    site.page.wait_for_selector(f"#timeline [data-seq='{last + 1}']")
    site.foreign = [url for url in site.foreign if url != "about:blank"]
    site.end()


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
    for scheme in ["light", "dark"]:
        each_view(browser, scheme)
    site = Site(browser, SAMPLE)
    a_session_and_its_context(site)
    what_left_the_window(site)
    a_search(site)
    records_and_forgetting(site)
    what_is_hostile(site)
    site.end()
    what_is_wrong_is_told(browser)
    many_messages(browser)
    site = Site(browser, OWN)
    site.open()
    health.shows_the_journal(site)
    keyboard.reaches_everything(site)
    keyboard.forgets_everything(site)
    site.end()
    browser.close()
