import { describe, expect, it } from 'vitest'
import { findJws } from '../../../src/cli/receipts.ts'

describe('findJws', () => {
  const jws = 'aGVhZA.cGF5.c2ln'
  it.each([
    ['the JWS itself', `${jws}\n`],
    ['a receipt', JSON.stringify({ receipt_id: 'rcp_1', url: 'https://x', jws })],
    ['a whole answer', JSON.stringify({ attempt_id: 'att_1', receipt: { receipt_id: 'rcp_1', jws } })],
  ])('finds it in %s', (_, text) => expect(findJws(text)).toBe(jws))

  it.each(['{}', '{"receipt":null}', '{"jws":1}', '{broken'])('says so when %s holds none', (text) =>
    expect(() => findJws(text)).toThrow('holds no receipt'),
  )
})
