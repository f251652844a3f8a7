"""What keys alone reach: colours, each page of each list, what a list leads to, and what is forgotten."""

import urllib.parse

NAME = '"><script>window.hit = 1</script>'
HOSTILE = "<b>bold</b> <script>window.hit = 1</script> \u202egnp.exe"


def reaches_everything(site):
    chain = fill(site)
    changes_the_colours(site)
    steps_and_turns_pages(site)
    follows_what_is_hostile(site)
    reads_a_long_chain(site, chain)
    fills_the_forms_of_forgetting(site)


def fill(site):
    """Stores more records than a page holds, and returns those of a chain that is longer than one answer."""
    for number in range(105):
        site.call("POST", "records", {"text": f"Carol counts {number} of something", "kind": "fact" if number % 2 else "number"})
    site.call("POST", "records", {"text": HOSTILE, "kind": "<i>kind</i>", "tags": ["<b>tag</b>"]})
    site.call("POST", f"sessions/{urllib.parse.quote(NAME, safe='')}/messages", {"messages": [{"role": "user", "content": HOSTILE}]})
    # Of such a character six bytes go into a record, which holds 4 MiB, and into an answer, which holds 16.
    long = [f"Version {number} of the plan: " + "\x01" * 600_000 for number in range(7)]
    ids = [site.call("POST", "records", {"text": long[0]})["id"]]
    for text in long[1:]:
        ids.append(site.call("POST", f"records/{ids[-1]}/supersede", {"text": text})["id"])
    return ids


def changes_the_colours(site):
    """`t` goes from the system's colours, which are light here, to light, dark, and back; the page keeps them."""
    site.press("Escape")
    seen = []
    for _ in range(3):
        seen.append((site.is_dark(), site.page.evaluate("document.documentElement.dataset.theme")))
        site.press("t")
    assert seen == [(False, ""), (False, "light"), (True, "dark")], seen
    assert not site.is_dark()
    site.press("t", "t")
    site.page.reload()
    site.begins("#/")
    assert site.is_dark(), "the page forgets its colours"
    site.press("t")
    assert not site.is_dark()


def steps_and_turns_pages(site):
    """`j` and `k` step through a list and stay within it, `b` goes back, and a page leads to the next one."""
    site.press("1")
    site.shown("#/sessions")
    first = site.call("GET", "sessions?limit=50")
    names = [one["session"] for one in first["sessions"]]
    shows_sessions(site, first["sessions"])
    for key, name in [("j", names[0]), ("j", names[1]), ("k", names[0]), ("k", names[0]), ("j", names[1])]:
        site.press(key)
        assert at_session(site) == name, (key, name)
    site.press("Enter")
    site.shown(f"#/sessions/{quoted(names[1])}")
    site.press("b")
    site.shown("#/sessions")
    for key, name in [("k", names[-1]), ("j", names[-1]), ("k", names[-2]), ("j", names[-1])]:
        site.press(key)
        assert at_session(site) == name, (key, name)
    turns(site, "sessions", first["next"])
    rest = site.call("GET", f"sessions?limit=50&after={quoted(first['next'])}")["sessions"]
    shows_sessions(site, rest)
    assert len(names) + len(rest) == 61 and not site.page.locator("main a[href*='after=']").count()
    site.press("b")
    site.shown("#/sessions")
    site.press("4")
    site.shown("#/records")
    first = site.call("GET", "records?limit=100")
    shows_records(site, "main .item", first["records"])
    site.press("k")
    turns(site, "records", first["next"])
    rest = site.call("GET", f"records?limit=100&after={quoted(first['next'])}")["records"]
    shows_records(site, "main .item", rest)
    assert len(first["records"]) + len(rest) == 107
    # A form leads to a part of a list.
    site.press("/")
    assert site.is_at("#kind")
    site.type("number")
    told = site.told("#/records?kind=number", "records", "Enter")["records"]
    assert len(told) == 53
    shows_records(site, "main .item", told)


def follows_what_is_hostile(site):
    """Opens what has hostile names and words from the lists, and each link of it."""
    session = f"#/sessions/{quoted(NAME)}"
    site.press("Escape", "1")
    site.shown("#/sessions")
    site.step_to(f"a.row[href='{css(session)}']")
    site.press("Enter")
    site.shown(session)
    is_text(site)
    for link in ["#/context/", "#/search?filter=", "#/forget?session="]:
        site.tab_to(f"main a[href^='{link}']")
        site.press("Enter")
        site.begins(link)
        is_text(site)
        site.press("b")
        site.shown(session)
    # What is to be forgotten, and rather not.
    site.press("j")
    site.tab_to("main .item a[href^='#/forget?ids=']")
    site.press("Enter")
    site.begins("#/forget?ids=")
    is_text(site)
    site.tab_to("main a[href='#/forget']")
    site.press("Enter")
    site.shown("#/forget")
    record = next(record for record in all_records(site) if record["text"].startswith("<b>"))
    site.press("4")
    site.shown("#/records")
    if not site.page.locator(f"[data-id='{record['id']}']").count():
        site.press("k")
        turns(site, "records", site.call("GET", "records?limit=100")["next"])
    site.step_to(f"[data-id='{record['id']}']")
    site.press("Enter")
    site.shown(f"#/records/{record['id']}")
    is_text(site)
    shows_record(site, record)
    # The steps lead over the record itself to its chain.
    site.press("j", "j")
    assert site.is_at(f"#chain [data-id='{record['id']}']")
    site.press("k")
    assert site.is_at("main .item:not(#chain *)")


def reads_a_long_chain(site, chain):
    """A chain that one answer does not hold goes on behind a link."""
    for number, id in enumerate(chain):
        assert site.call("GET", f"records/{id}")["current"] == (number == len(chain) - 1)
    site.press("4")
    site.shown("#/records")
    if not site.page.locator(f"[data-id='{chain[-1]}']").count():
        site.press("k")
        turns(site, "records", site.call("GET", "records?limit=100")["next"])
    site.step_to(f"[data-id='{chain[-1]}']")
    site.press("Enter")
    site.shown(f"#/records/{chain[-1]}")
    begins = items(site, "#chain .item")
    site.press("k")
    turns(site, f"records/{chain[-1]}", site.call("GET", f"records/{chain[-1]}/history")["next"])
    assert begins and begins + items(site, "#chain .item") == chain, begins
    assert not site.page.locator("main a[href*='after=']").count()


def fills_the_forms_of_forgetting(site):
    """Forgets items by their ids and a session by its name, all typed in."""
    records = site.call("GET", "records?kind=number&limit=2")["records"]
    unknown = "0190b0a0-0000-7000-8000-000000000000"
    site.press("5")
    site.shown("#/forget")
    site.press("/")
    assert site.is_at("#ids")
    # Nothing is asked with nothing in the form.
    site.press("Enter")
    assert site.page.evaluate("location.hash") == "#/forget"
    site.type(", ".join([records[0]["id"], records[1]["id"], unknown]))
    site.press("Enter")
    site.begins("#/forget?ids=")
    assert all(record["text"] in site.text() for record in records)
    for text in [records[0]["text"], records[1]["text"]]:
        site.press("j")
        assert site.is_at("main .item") and text in site.page.evaluate("document.activeElement.textContent")
    site.tab_to("#confirm")
    receipt = forgets(site)
    assert receipt["removed"] == 2 and "1 id named nothing" in site.text(), receipt
    kept = [record["id"] for record in all_records(site)]
    assert len(kept) == 105 and not {record["id"] for record in records} & set(kept)
    site.press("5")
    site.shown("#/forget")
    site.tab_to("#session")
    site.type(NAME)
    site.press("Enter")
    site.shown(f"#/forget?session={form(NAME)}")
    is_text(site)
    site.tab_to("#confirm")
    forgets(site)
    assert NAME not in [one["session"] for one in all_sessions(site)] and len(all_sessions(site)) == 60


def forgets_everything(site):
    """Nothing happens before the subject is typed, and afterwards nothing is there."""
    asked = []
    site.page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/v1/forget") else None)
    site.press("5")
    site.shown("#/forget")
    site.tab_to("main a[href='#/forget?everything=true']")
    site.press("Enter")
    site.shown("#/forget?everything=true")
    for wrong in ["", "Carol", "carol ", "acme"]:
        site.tab_to("#typed")
        site.press("Control+a", "Delete")
        site.type(wrong)
        site.press("Enter")
        site.tab_to("#confirm")
        site.press("Enter")
        assert site.is_at("#typed") and site.page.inner_text("#result") == "", wrong
    assert len(all_sessions(site)) == 60 and len(all_records(site)) == 105 and not asked, asked
    site.picture("everything")
    site.press("Control+a")
    site.type("carol")
    receipt = forgets(site)
    assert len(asked) == 1 and receipt["complete"], receipt
    site.picture("nothing")
    for key, address, empty in [("1", "#/sessions", "There are no sessions yet."), ("4", "#/records", "There are no such records."), ("3", "#/search", "Nothing was found.")]:
        site.press(key)
        site.shown(address)
        assert empty in site.text(), site.text()
    assert not all_sessions(site) and not all_records(site)
    assert site.call("GET", "status")["journal"] == {"waiting": 0, "bytes": 0, "refused": 0}


# ---- What a view shows ----


def shows_sessions(site, sessions):
    """Compares the list of sessions with what the server tells of them."""
    rows = site.page.eval_on_selector_all("main a.row", """rows => rows.map(row => [decodeURIComponent(row.getAttribute('href').slice('#/sessions/'.length)),
        row.querySelector('.title').textContent, row.querySelector('.fill').title, ...[...row.querySelectorAll('.right')].map(cell => cell.textContent)])""")
    told = [
        [one["session"], visible(one["title"] or one["session"]), f"{many(one['window_messages'], 'message')} of {one['messages']:,} in the window",
         many(one["messages"], "message"), many(one["window_tokens"], "token"), minute(one["last_at"])]
        for one in sessions
    ]
    assert rows == told and rows, (rows, told)


def shows_records(site, selector, records):
    """Compares a list of records with what the server tells of them."""
    shown = site.page.eval_on_selector_all(selector, """items => items.map(item => [item.dataset.id, item.querySelector('.words').textContent.slice(0, 20),
        [...item.querySelectorAll('.meta > .tag')].map(tag => tag.textContent)])""")
    told = [
        [record["id"], visible(record["text"])[:20], [visible(record["kind"]), *map(visible, record["tags"]), validity(record), *(["pinned"] if record["pinned"] else [])]]
        for record in records
    ]
    assert shown == told and shown, (shown, told)


def shows_record(site, record):
    """Compares what is known of one record with what the server tells."""
    facts = dict(site.page.evaluate("[...document.querySelectorAll('main dl.facts dt')].map(name => [name.textContent, name.nextSibling.textContent])"))
    told = {"Id": record["id"], "Kind": visible(record["kind"]), "Trust": record["trust"], "Version": str(record["version"]), "Told": minute(record["at"])}
    for name, member in [("True from", "valid_from"), ("True until", "valid_to"), ("Superseded", "superseded_at"), ("Expires", "expires_at")]:
        if record[member]:
            told[name] = minute(record[member])
    if record["superseded_by"]:
        told["By"] = record["superseded_by"][:8]
    assert told.items() <= facts.items(), (told, facts)
    missing = {"True from", "True until", "Superseded", "By", "Expires"} - told.keys()
    assert not missing & facts.keys(), facts


def forgets(site):
    """Presses Enter where that forgets; compares the receipt with the server's, and looks at the search afterwards."""
    with site.page.expect_response(lambda answer: answer.url == f"{site.base}v1/forget") as answer:
        site.press("Enter")
    site.page.wait_for_selector("#proof")
    receipt, stores = answer.value.json(), site.call("GET", "status")["stores"]
    assert site.page.get_attribute("#proof", "data-left") == "0"
    assert site.is_at("#receipt") and receipt["complete"] and "✓ complete" in site.text(), receipt
    assert f"{many(receipt['removed'], 'message or record', 'messages and records')} removed, {receipt['derived']:,} of them derived" in site.text(), site.text()
    rows = {(row[0], row[1]): row[2:4] for row in site.table()}
    assert rows.keys() == {(store["part"], store["backend"]) for store in [*stores, *receipt["stores"]]}, rows
    for store in receipt["stores"]:
        left = "unknown" if store["remaining"] is None else f"{store['remaining']:,}"
        assert rows[store["part"], store["backend"]] == [f"{store['removed']:,}", left], (rows, store)
    return receipt


def is_text(site):
    """Asserts that what is hostile stands there as text alone."""
    assert "<script>" in site.text() and "\u202e" not in site.text(), site.text()
    assert site.page.evaluate("window.hit === undefined && document.querySelectorAll('main script, main .words b, main .tag b, main .tag i').length === 0")


# ---- Small helps ----


def turns(site, view, after):
    """Goes from the end of a list to its next page."""
    site.tab_to("main p > a[href*='after=']")
    site.press("Enter")
    site.shown(f"#/{view}?after={form(after)}")


def items(site, selector):
    return site.page.eval_on_selector_all(selector, "items => items.map(item => item.dataset.id)")


def at_session(site):
    return urllib.parse.unquote(site.page.evaluate("document.activeElement.getAttribute('href') ?? ''").removeprefix("#/sessions/"))


def all_sessions(site):
    first = site.call("GET", "sessions?limit=100")
    assert len(first["sessions"]) < 100
    return first["sessions"]


def all_records(site):
    records, after = [], ""
    while True:
        page = site.call("GET", f"records?limit=100{after}")
        records += page["records"]
        if not page["next"]:
            return records
        after = f"&after={quoted(page['next'])}"


def quoted(text):
    return urllib.parse.quote(text, safe="!~*'()")


def form(text):
    """Encodes a value as a browser does in what follows a question mark."""
    return urllib.parse.quote_plus(text, safe="*").replace("~", "%7E")


def css(text):
    return text.replace("'", "\\'")


def many(number, one, more=None):
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def minute(at):
    return at[:16].replace("T", " ")


def visible(text):
    return text.replace("\u202e", "U+202E").replace("\x01", "U+0001")


def validity(record):
    if record["current"]:
        return "current"
    return "superseded" if record["superseded_at"] else "not current"
