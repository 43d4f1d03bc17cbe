// The words for what is too small or too large are for whoever filled in the form, not for who wrote the schema.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeIssues } from '../../../src/core/validation-issues.ts'

const messageOf = (schema: z.ZodType, value: unknown) => {
  const parsed = schema.safeParse(value)
  return parsed.success ? undefined : describeIssues(parsed.error.issues, value)[0]?.message
}

describe('what is too small or too large', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string().min(1), '', 'Must not be empty'],
    [z.array(z.string()).min(1), [], 'Must not be empty'],
    [z.string().min(8), 'short', 'Must have at least 8 characters'],
    [z.string().max(1), 'ab', 'Must have at most 1 character'],
    [z.string().length(3), 'ab', 'Must have exactly 3 characters'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'Must have at most 2 items'],
    [z.int().min(1), 0, 'Must be at least 1'],
    [z.int().max(100), 101, 'Must be at most 100'],
    [z.number().gt(1), 1, 'Must be more than 1'],
    [z.number().lt(1), 1, 'Must be less than 1'],
    [z.bigint().min(5n), 4n, 'Must be at least 5'],
  ])('is said in plain words (%#)', (schema, value, message) => {
    expect(messageOf(schema, value)).toBe(message)
  })

  it('keeps the words of a rule that has its own', () => {
    expect(messageOf(z.string().min(1, 'name somebody'), '')).toBe('name somebody')
  })
})
