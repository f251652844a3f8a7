"""Rows of conversations: the newest messages within 3,000 tokens, and one message more."""

import asyncio
import logging
import os
from pathlib import Path

LIMIT = 3_000
logging.disable(logging.WARNING)


def encoding():
    """The tables of cl100k that come with LlamaIndex, so that nothing is fetched."""
    import llama_index.core
    cache = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    import tiktoken
    return tiktoken.get_encoding("cl100k_base")


def tokenizer():
    return encoding().encode


def number_of(text):
    """The number that stands at the end of every text."""
    return int(text.rsplit("n", 1)[1])


def buffer(messages, *_):
    """LlamaIndex ChatMemoryBuffer."""
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer
    memory = ChatMemoryBuffer.from_defaults(token_limit=LIMIT, tokenizer_fn=tokenizer())
    memory.set([ChatMessage(role=line["role"], content=line["text"]) for line in messages])
    return memory


def buffer_window(messages, *_):
    memory = buffer(messages)
    return lambda _: [number_of(message.content) for message in memory.get()]


def block_memory(messages):
    """LlamaIndex Memory, in SQLite in memory, and the loop that it lives in."""
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory
    from llama_index.core.memory.memory import MessageStatus
    encode = tokenizer()
    loop = asyncio.new_event_loop()
    memory = Memory.from_defaults(session_id="talk", token_limit=LIMIT, chat_history_token_ratio=1.0,
                                  token_flush_size=LIMIT // 10, tokenizer_fn=encode)
    # Filled past its own put, which counts what is there every time: 100,000 of them would take minutes.
    chunk = 5_000
    rows = [ChatMessage(role=line["role"], content=line["text"]) for line in messages]
    active = active_tail(rows, encode)
    for start in range(0, active, chunk):
        loop.run_until_complete(memory.sql_store.add_messages("talk", rows[start:min(start + chunk, active)],
                                                              status=MessageStatus.ARCHIVED))
    loop.run_until_complete(memory.sql_store.add_messages("talk", rows[active:], status=MessageStatus.ACTIVE))
    return loop, memory, ChatMessage


def active_tail(rows, encode):
    """Where the newest messages begin that stay in the queue of LlamaIndex Memory: 3,000 tokens of them."""
    left = LIMIT
    for place in range(len(rows) - 1, -1, -1):
        left -= len(encode(rows[place].content))
        if left < 0:
            return place + 1
    return 0


def block_memory_window(messages, *_):
    loop, memory, _message = block_memory(messages)
    return lambda _: [number_of(message.content) for message in loop.run_until_complete(memory.aget())]


def trim(messages, counter):
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    rows = [kinds[line["role"]](line["text"]) for line in messages]

    def call(_):
        kept = trim_messages(rows, max_tokens=LIMIT, strategy="last", token_counter=counter, start_on="human")
        return [number_of(message.content) for message in kept]
    return call


def trim_exact(messages, *_):
    """LangChain trim_messages, counting by tiktoken."""
    encode = tokenizer()
    return trim(messages, lambda rows: sum(3 + len(encode(row.content)) for row in rows))


def trim_approximate(messages, *_):
    """LangChain trim_messages, counting by characters."""
    from langchain_core.messages.utils import count_tokens_approximately
    return trim(messages, count_tokens_approximately)


def buffer_append(messages, *_):
    from llama_index.core.base.llms.types import ChatMessage
    memory, size = buffer(messages), len(messages)
    texts = [line["text"] for line in messages[:1_000]]

    def call(number):
        nonlocal size
        memory.put(ChatMessage(role="user", content=texts[number % len(texts)]))
        size += 1
        return [size]
    return call


def block_memory_append(messages, *_):
    loop, memory, message = block_memory(messages)
    texts, size = [line["text"] for line in messages[:1_000]], len(messages)

    def call(number):
        nonlocal size
        loop.run_until_complete(memory.aput(message(role="user", content=texts[number % len(texts)])))
        size += 1
        return [size]
    return call


def history_append(messages, *_):
    """LangChain InMemoryChatMessageHistory: a list, with neither numbers nor counts."""
    from langchain_core.chat_history import InMemoryChatMessageHistory
    from langchain_core.messages import HumanMessage
    history, texts = InMemoryChatMessageHistory(), [line["text"] for line in messages[:1_000]]
    history.add_messages([HumanMessage(line["text"]) for line in messages])

    def call(number):
        history.add_messages([HumanMessage(texts[number % len(texts)])])
        return [len(history.messages)]
    return call


WINDOW = {
    "llama-index Memory": block_memory_window,
    "llama-index ChatMemoryBuffer": buffer_window,
    "langchain trim_messages, exact": trim_exact,
    "langchain trim_messages, approximate": trim_approximate,
}
APPEND = {
    "llama-index Memory": block_memory_append,
    "llama-index ChatMemoryBuffer": buffer_append,
    "langchain InMemoryChatMessageHistory": history_append,
}
