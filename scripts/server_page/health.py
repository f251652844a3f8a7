"""What the view of health shows, against what `/v1/status` tells."""

import json
import time

# A status of which no two numbers are equal, and in which each thing is wrong that can be.
WRONG = {
    "stores": [
        {"part": "chat", "backend": "sqlite", "answers": True, "server": "SQLite", "version": "3.99", "durability": "synced", "walled": False, "read_only": True},
        {"part": "records", "backend": "postgres", "answers": False, "server": None, "version": None, "durability": None, "walled": None, "read_only": None},
        {"part": "text", "backend": "<b>elastic</b>", "answers": True, "server": "Elasticsearch", "version": None, "durability": None, "walled": False, "read_only": False},
    ],
    "indexes": [
        {"index": "words", "pending": 12_345, "dead": 7, "noted": True, "given_up": 0},
        {"index": "meaning", "pending": 21, "dead": 30, "noted": False, "given_up": 4},
        {"index": "away", "pending": None, "dead": None, "noted": True, "given_up": 0},
    ],
    "journal": {"waiting": 54_321, "bytes": 7_654_321, "refused": 9},
}


def shows_what_is_told(site):
    """Opens the view by its key, and compares it with the answer that it was made of."""
    site.press("Escape", "1")
    site.shown("#/sessions")
    status = site.told("#/health", "status", "6")
    compare(site, status)
    assert {store["part"] for store in status["stores"]} >= {"chat", "records", "text"} and all(store["answers"] for store in status["stores"]), status
    assert [row[:2] for row in site.table(0)] == [[store["part"], store["backend"]] for store in site.call("GET", "status")["stores"]]
    return status


def shows_what_is_wrong(site):
    """Compares the view with answers that a server gives when something is wrong."""
    address = f"{site.base}v1/status"
    for change in [WRONG, {**WRONG, "journal": None}, {**WRONG, "journal": {"waiting": 1, "bytes": 1, "refused": None}}]:

        def wrong(route):
            route.fulfill(json={**route.fetch().json(), **change})

        site.page.route(address, wrong)
        site.tab_to("#again")
        status = site.told("#/health", "status", "Enter")
        site.page.unroute(address, wrong)
        assert {name: status[name] for name in change} == change
        assert site.is_at("#again"), "who looks again has lost the place"
        compare(site, status)
    site.picture("wrong")


def shows_the_journal(site):
    """Lets messages wait in the journal, and one be refused, and looks at each."""
    status = shows_what_is_told(site)
    assert status["journal"] == {"waiting": 0, "bytes": 0, "refused": 0}, status
    talk = site.call("GET", "sessions/talk%201/messages?limit=1")["shown"][0]
    said = [{"role": "user", "content": f"Message {number} that waits"} for number in range(20)]
    # Whether an id is taken is known once the message is sent, and messages are sent when there are 20 of a conversation.
    taken = {"id": talk["id"], "role": "user", "content": "Other words, by an id that is taken"}
    site.call("POST", "sessions/talk%201/messages", {"messages": [taken, *said]})
    ends = time.monotonic() + 30
    while site.call("GET", "status")["journal"]["refused"] != 1:
        assert time.monotonic() < ends, site.call("GET", "status")
    site.call("POST", "sessions/talk%202/messages", {"messages": said[:3]})
    site.tab_to("#again")
    status = site.told("#/health", "status", "Enter")
    assert status["journal"]["waiting"] >= 3 and status["journal"]["bytes"] > 0 and status["journal"]["refused"] == 1, status
    compare(site, status)
    site.picture("journal")
    shows_what_is_wrong(site)


def compare(site, status):
    """Compares all that the view shows with a status."""
    pending, dead = [one["pending"] or 0 for one in status["indexes"]], [(one["dead"] or 0) + one["given_up"] for one in status["indexes"]]
    there, all_of_them = sum(store["answers"] for store in status["stores"]), len(status["stores"])
    figures = {
        "stores answer": ("All" if there == all_of_them else f"{there} of {all_of_them}", there < all_of_them),
        "notes wait for an index": (f"{max(pending, default=0):,}", False),
        "notes were given up": (f"{sum(dead):,}", sum(dead) > 0),
    }
    if journal := status["journal"]:
        refused = "Unknown" if journal["refused"] is None else f"{journal['refused']:,}"
        figures[f"messages wait in the journal, {journal['bytes']:,} byte{'' if journal['bytes'] == 1 else 's'}"] = (f"{journal['waiting']:,}", False)
        figures["messages of the journal were refused for good"] = (refused, journal["refused"] != 0)
    shown = site.page.eval_on_selector_all("main .figure", "all => all.map(one => [one.nextSibling.textContent, one.textContent, one.matches('.missed')])")
    assert {text: (value, is_bad) for text, value, is_bad in shown} == figures and len(shown) == len(figures), json.dumps([shown, figures])
    assert f"{status['subject']} of {status['tenant']}" in site.text() and status["version"] in site.text() and ", ".join(status["rights"]) in site.text()
    stores = [[store["part"], store["backend"], server(store), "yes" if store["answers"] else "no", store["durability"] or "–", writes(store)] for store in status["stores"]]
    assert site.table(0) == stores, json.dumps([site.table(0), stores])
    indexes = [
        [one["index"], "does not answer" if one["pending"] is None else f"{one['pending']:,}", "–" if one["dead"] is None else f"{one['dead']:,}",
         f"{one['given_up']:,}", "all" if one["noted"] else "not yet all"]
        for one in status["indexes"]
    ]
    assert site.table(1) == indexes, json.dumps([site.table(1), indexes])


def server(store):
    return " ".join(part for part in [store["server"], store["version"]] if part) or "–"


def writes(store):
    if not store["answers"]:
        return "–"
    return "refused" if store["read_only"] else "taken"
