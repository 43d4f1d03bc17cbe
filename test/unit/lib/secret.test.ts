import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'

const VALUE = 'hunter2-"\\\n-ü'
const secret = new Secret(VALUE)

describe('Secret', () => {
  it('gives its value to use and returns what use makes of it', () => {
    expect(secret.use((value) => value.length)).toBe(VALUE.length)
    expect(new Secret<undefined>(undefined).use((value) => value)).toBeUndefined()
  })

  it.each<[string, () => string]>([
    ['a template', () => `${secret}`],
    ['concatenation', () => 'x' + String(secret)],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspect', () => inspect({ secret }, { depth: null, showHidden: true })],
    ['own properties', () => JSON.stringify(Object.getOwnPropertyDescriptors(secret))],
    ['a copy', () => inspect({ ...secret })],
    ['a structured clone', () => inspect(structuredClone(secret), { showHidden: true })],
    ['an error message', () => new Error(`failed with ${secret}`).message],
    ['a map of entries', () => Object.entries(secret).join()],
  ])('does not print in %s', (_, print) => {
    expect(print()).not.toContain('hunter2')
  })

  it('does not print in a log line', () => {
    const lines: string[] = []
    createLogger('info', { write: (line: string) => void lines.push(line) }).info(
      { secret, deep: { secret } },
      `${secret}`,
    )
    expect(lines.join('')).toContain('[secret]')
    expect(lines.join('')).not.toContain('hunter2')
  })

  it('takes no further properties', () => {
    expect(() => Object.assign(secret, { value: VALUE })).toThrow(TypeError)
  })
})
