"""What the tests of the page in a real browser share."""

from __future__ import annotations


class Watched:
    """A page whose errors and requests are noted."""

    def __init__(self, browser, address, **settings):
        self.context = browser.new_context(viewport={"width": 1200, "height": 850}, **settings)
        self.page = self.context.new_page()
        self.address, self.problems = address, []
        self.page.on("console", lambda one: self.problems.append(one.text) if one.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        self.page.set_default_timeout(30_000)

    def _request(self, request):
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.problems.append(f"a request to {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.problems.append(
                f"{response.request.method} {response.url}: {response.status}, {response.request.post_data}"
            )

    def open(self, **where):
        link = "&".join(f"{name}={value}" for name, value in where.items())
        self.page.goto(f"{self.address}#{link}")
        self.page.wait_for_selector(".turn, .learn, .treeview, .note, .runs")
        return self.page
