import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { fillTemplate, type Values } from '../../../../src/egress/kinds/hmac-template.ts'
import { mayHoldField, valuesOf } from '../../../../src/egress/placement/form-body.ts'

const MIB = 1024 * 1024
/** Names and values as libraries write them, and as nobody should. */
const text = fc
  .array(fc.constantFrom('a', 'key', '%6bey', 'k', '%', '%2', '%zz', '%C3', '%A9', '%FF', '+', '=', ';', '?'))
  .map((pieces) => pieces.join(''))
const form = fc.array(text, { maxLength: 8 }).map((fields) => fields.join('&'))

describe('a field of a form', () => {
  it('has the values that a parser of forms reads', () => {
    fc.assert(
      fc.property(form, fc.constantFrom('key', 'a', 'k'), (body, name) => {
        // A parser takes a question mark at the beginning for that of an address.
        const wanted = new URLSearchParams(`_&${body}`).getAll(name)
        expect(Array.from(valuesOf(Buffer.from(body), name))).toEqual(wanted)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    'key',
    'a=1&KEY=2',
    ' key=1',
    '+key+',
    'k%65y[]=1',
    '%6b%65%79',
    'a;key',
    'key[%FF]=1',
    '\u212aey',
    '%E2%84%AAey',
  ])('may be the one that is sought in %s', (body) =>
    expect(mayHoldField(Buffer.from(body), 'key')).toBe(true),
  )

  it.each(['', '&', 'keys', 'a=key', 'a=1&b=;c', 'k', 'ke%79s', '%key', 'key%'])(
    'is another one in %s',
    (body) => expect(mayHoldField(Buffer.from(body), 'key')).toBe(false),
  )

  it('has letters as they are, too', () =>
    expect(Array.from(valuesOf(Buffer.from('key=ü%C3%BC+&a=1'), 'key'))).toEqual(['üü ']))

  it('is found by no parser that lists them all, and without an error for each of a megabyte', () => {
    const decode = vi.spyOn(globalThis, 'decodeURIComponent')
    const parse = vi.spyOn(globalThis, 'URLSearchParams')
    try {
      for (const unit of ['%&', '&', 'a&', '%FF=%FF;']) {
        const body = Buffer.from(`${unit.repeat(MIB / unit.length)}&k%65y=1`)
        expect(mayHoldField(body, 'key')).toBe(true)
        expect(Array.from(valuesOf(body, 'key'))).toEqual(['1'])
        expect(fillTemplate('{form.key}', { request: { body } } as unknown as Values).toString()).toBe('1')
      }
      expect(decode).not.toHaveBeenCalled()
      expect(parse).not.toHaveBeenCalled()
    } finally {
      decode.mockRestore()
      parse.mockRestore()
    }
  })
})
