//! The text form of filters: `role = user and at >= 2024-01-01 and tag in (a, b)`.
