"""The explorer's page, floor 8: a graph laid out and written as one interactive HTML file that needs no network."""

from .write import Page, explore, page_html

__all__ = ["Page", "explore", "page_html"]
