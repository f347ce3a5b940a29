"""What a person can do about a failure of CortexDB."""

from corebrain.engines.cortexdb.failures import is_insufficient_credits
from corebrain.errors import CorebrainError, EngineError, InvalidRequest, NotFound, Unauthorized, Unavailable

_UNREGISTERED = "UNREGISTERED_SCOPE_TYPE"


def advice_for(error: CorebrainError) -> str:
    """Tell a wrong key, an old server, a missing scope type, an empty account and a host out of reach apart."""
    if isinstance(error, Unauthorized):
        return "the key is refused: renew it"
    if isinstance(error, InvalidRequest) and _UNREGISTERED in error.message:
        return "the server does not know a scope type that is needed: register it, or update the server"
    if isinstance(error, NotFound) or (isinstance(error, EngineError) and "answered 405" in error.message):
        return "the server is too old for this surface, or something else answers there: update it, or check endpoint"
    if is_insufficient_credits(error):
        return "the account has run out of credits"
    if isinstance(error, Unavailable):
        return "check endpoint and network, or try again later"
    return "check that endpoint names a CortexDB server"
