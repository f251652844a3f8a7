"""What happens around every call: the key, the faults that a test asks for, and errors as gRPC codes.

A client asks for faults with headers:
  x-standin-fail: CODE[:seconds]     the call fails with this gRPC code, with `retry-after` if seconds are given
  x-standin-status: NUMBER           a write is done, but answers with this UpdateStatus, such as 1, Acknowledged
  x-standin-partial: COUNT           an upsert stores that many points and then fails with INTERNAL
"""

import functools
import os

from .failure import Code, Failure, of_engine

KEY = os.environ.get("QDRANT__SERVICE__API_KEY")


def rpc(method):
    """Makes a method of a service answer as a server does."""

    @functools.wraps(method)
    def wrapped(self, request, context):
        headers = dict(context.invocation_metadata())
        if KEY and headers.get("api-key") != KEY:
            context.abort(Code.UNAUTHENTICATED, "Must provide an API key or an Authorization bearer token")
        if fail := headers.get("x-standin-fail"):
            code, _, seconds = fail.partition(":")
            if seconds:
                context.set_trailing_metadata((("retry-after", seconds),))
            context.abort(Code[code], "asked for by the test")
        try:
            return disturbed(headers, request, lambda: method(self, request))
        except Failure as failure:
            error = failure
        except Exception as failure:
            error = of_engine(failure)
        context.abort(error.code, error.message)

    return wrapped


def disturbed(headers, request, answer):
    """Answers, with the fault that the headers ask for if the call is a write."""
    count = headers.get("x-standin-partial")
    if count and hasattr(request, "points") and hasattr(request, "update_mode"):
        del request.points[int(count):]
        answer()
        raise Failure(Code.INTERNAL, "Service internal error: asked for by the test")
    answered = answer()
    status = headers.get("x-standin-status")
    if status and hasattr(answered, "result") and hasattr(answered.result, "operation_id"):
        answered.result.status = int(status)
    return answered
