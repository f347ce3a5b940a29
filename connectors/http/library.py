"""An `httpx.Client` for libraries that make their own calls and take one, such as notion-client."""

import httpx

from connectors.http.client import Client


def httpx_client(client: Client) -> httpx.Client:
    """Return an `httpx.Client` whose requests are guarded, paced, tried again and counted as *client*'s are.

    It follows no redirect and reads nothing from the environment. Errors without a reply are those of
    `connectors.http.errors`; every status is returned as it is. Closing it closes *client*'s connections.
    """
    return httpx.Client(transport=client.transport, trust_env=False, follow_redirects=False)
