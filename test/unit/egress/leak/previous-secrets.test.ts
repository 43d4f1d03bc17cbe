import { expect, it } from 'vitest'
import {
  type PreviousSecret,
  readSealedText,
  replaceSealedText,
  stillSought,
} from '../../../../src/egress/leak/previous-secrets.ts'
import { joinParts, splitParts } from '../../../../src/egress/placement/parts.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const DAY = 24 * 3_600_000
const reveal = (secret: Secret<string> | undefined) => secret?.use((text) => text)
const texts = (previous: readonly PreviousSecret[]) => previous.map(({ secret }) => reveal(secret))
const replace = (before: Secret<string>, replaced: string[], text: string, now: number) =>
  replaceSealedText(
    { before: readSealedText(before), secrets: replaced.map((each) => new Secret(each)) },
    new Secret(text),
    now,
  )

it('a text that replaced nothing is sealed as it is', () => {
  const { current, previous } = readSealedText(new Secret('{"a":1}'))
  expect(reveal(current)).toBe('{"a":1}')
  expect(previous).toEqual([])
  expect(reveal(replace(new Secret('first'), [], 'second', 0))).toBe('second')
})

it('a replaced secret is sought for thirty days, the last four at most', () => {
  let sealed = new Secret('secret-0')
  for (let i = 1; i <= 6; i++) sealed = replace(sealed, [`secret-${i - 1}`], `secret-${i}`, i * DAY)
  const { current, previous } = readSealedText(sealed)
  expect(reveal(current)).toBe('secret-6')
  expect(texts(previous)).toEqual(['secret-5', 'secret-4', 'secret-3', 'secret-2'])
  expect(texts(stillSought(previous, 34 * DAY))).toEqual(['secret-5', 'secret-4'])
  const later = readSealedText(replace(sealed, ['secret-6'], 'secret-7', 36 * DAY))
  expect(texts(later.previous)).toEqual(['secret-6'])
})

it('tokens are sought until they end, beside the secrets: all of the secret that is replaced, of those before the last six at most', () => {
  const token = (name: string, days: number) => ({ secret: new Secret(name), soughtUntil: days * DAY })
  const again = (sealed: Secret<string>, secret: string, tokens: PreviousSecret[], day: number) =>
    replaceSealedText(
      { before: readSealedText(sealed), secrets: [new Secret(secret)], tokens },
      new Secret('now'),
      day * DAY,
    )
  const first = again(new Secret('zero'), 'zero', [token('a', 3), token('over', 0)], 0)
  expect(texts(readSealedText(first).tokens)).toEqual(['a'])
  const second = again(first, 'one', [token('b', 4)], 1)
  expect(texts(readSealedText(second).previous)).toEqual(['one', 'zero'])
  expect(texts(readSealedText(second).tokens)).toEqual(['b', 'a'])
  expect(texts(stillSought(readSealedText(second).tokens, 3 * DAY))).toEqual(['b'])
  const many = Array.from({ length: 9 }, (_, i) => token(`t${i}`, 9))
  const third = again(second, 'two', many, 2)
  expect(texts(readSealedText(third).tokens)).toEqual(many.map(({ secret }) => reveal(secret)))
  expect(texts(readSealedText(again(third, 'three', [token('c', 9)], 2)).tokens)).toEqual([
    'c',
    ...many.slice(0, 5).map(({ secret }) => reveal(secret)),
  ])
})

it('all secrets of a credential of several parts are kept, and its parts are read as before', () => {
  const settings = { parts: { user: 'public', one: 'secret', two: 'secret' } } as const
  const parts = new Map([
    ['user', new Secret('robot')],
    ['one', new Secret('first-secret')],
    ['two', new Secret('second-secret')],
  ])
  const sealed = replaceSealedText(
    {
      before: readSealedText(joinParts(parts, settings)),
      secrets: ['a', 'b', 'c', 'd', 'e'].map((text) => new Secret(text)),
    },
    joinParts(parts, settings),
    0,
  )
  expect(texts(readSealedText(sealed).previous)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect([...splitParts(sealed, settings)].map(([name, text]) => [name, reveal(text)])).toEqual([
    ['user', 'robot'],
    ['one', 'first-secret'],
    ['two', 'second-secret'],
  ])
})

it.each([
  '\u0000',
  '\u0000{}',
  '\u0000{"current":1,"previous":[]}',
  '\u0000{"current":"secret-of-today","previous":[{}]}',
])('what was not written so is refused, in words that show nothing of it', (text) => {
  expect(() => readSealedText(new Secret(text))).toThrow(/^sealed text: not/)
})
