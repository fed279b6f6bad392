"""The asynchronous client. `npm run gen` makes the synchronous one from it."""
