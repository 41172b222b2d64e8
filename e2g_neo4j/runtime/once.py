"""Properties that are computed once, even if several threads ask for them at the same time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class once(cached_property[T]):  # noqa: N801 (used like `cached_property`)
    """A `cached_property` that is computed under the lock `_loading` of its object, an RLock.

    In Python 3.11, `cached_property` has a lock for all objects too, with which two objects could wait for each other.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            with instance._loading:
                if self.attrname not in instance.__dict__:
                    instance.__dict__[self.attrname] = self.func(instance)
                return instance.__dict__[self.attrname]
