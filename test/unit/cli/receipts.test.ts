import { describe, expect, it } from 'vitest'
import { findJws } from '../../../src/cli/receipts.ts'

describe('findJws', () => {
  const jws = 'aGVhZA.cGF5.c2ln'
  it.each([
    ['the JWS itself', `${jws}\n`],
    ['a receipt', JSON.stringify({ receipt_id: 'rcp_1', url: 'https://x', jws })],
    ['a whole answer', JSON.stringify({ attempt_id: 'att_1', receipt: { receipt_id: 'rcp_1', jws } })],
    [
      'what `receipts show` prints',
      `receipt_id  rcp_1\nurl         https://x\n\ncharge  {"amount":1}\n\n${jws}\n`,
    ],
  ])('finds it in %s', (_, text) => expect(findJws(text)).toBe(jws))

  it.each(['', ' \n'])('says that %j is empty', (text) =>
    expect(() => findJws(text)).toThrow('input is empty'),
  )

  it.each(['{}', '{"receipt":null}', '{"jws":1}', '{broken'])('says so when %s holds none', (text) =>
    expect(() => findJws(text)).toThrow('holds no receipt'),
  )
})
