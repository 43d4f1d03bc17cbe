// Work of which no part may keep another from its turn.

/**
 * Takes one after the other, whatever becomes of those before.
 * @throws the first error, once all have had their turn; what `items` throw, at once
 */
export async function everyTurn<T>(
  items: Iterable<T> | AsyncIterable<T>,
  take: (item: T) => unknown,
): Promise<void> {
  const failures: unknown[] = []
  for await (const item of items) {
    try {
      await take(item)
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw failures[0]
}
