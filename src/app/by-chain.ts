// Reads settings that differ by chain: `1:12,137:20`.
import { z } from 'zod'

/**
 * Transforms items of `<chain id>:<digits>` into a table; leading zeros, signs and a second item of a chain are refused.
 * @param read undefined for a number that is not allowed
 * @param words what an item must be, with an example
 */
export const byChain =
  <T>(read: (digits: string) => T | undefined, words: string) =>
  (items: readonly string[], context: { addIssue(message: string): void }): Record<number, T> => {
    const table: Record<number, T> = {}
    for (const item of items) {
      const [, chainId, digits] = /^([1-9]\d{0,9}):([1-9]\d{0,5})$/.exec(item) ?? []
      const value = digits === undefined ? undefined : read(digits)
      if (chainId === undefined || value === undefined) {
        context.addIssue(`must be ${words}, comma-separated`)
        return z.NEVER
      }
      if (Object.hasOwn(table, chainId)) {
        context.addIssue(`must name every chain once, and names ${chainId} twice`)
        return z.NEVER
      }
      table[Number(chainId)] = value
    }
    return table
  }
