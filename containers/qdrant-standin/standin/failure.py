"""What goes wrong, as the gRPC code and text that a client is to see."""

import grpc

Code = grpc.StatusCode


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


def invalid(message):
    return Failure(Code.INVALID_ARGUMENT, message)


def wrong_input(message):
    return invalid(f"Wrong input: {message}")


def unknown(what):
    return Failure(Code.UNIMPLEMENTED, f"not in the stand-in: {what}")


def missing(what):
    return Failure(Code.NOT_FOUND, f"Not found: {what}")


def of_engine(error):
    """The engine raises plain Exceptions; the code that a server would give is known from the text alone."""
    message = str(error)
    if message.startswith("No point with id"):
        return missing(f"{message} found")
    if message.startswith("Service "):
        return Failure(Code.INTERNAL, message)
    return wrong_input(message)
