import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLists, encodeLists } from '../../../src/email/list-codec.ts'
import { openCompactSet, buildNameTable } from '../../../src/email/compact-set.ts'
import type { CompactLists } from '../../../src/email/sources.ts'

const SOURCES = [
  { bit: 1, name: 'curated 1.0', date: '2026-09-21' },
  { bit: 8, name: 'Liste\n„andere“', date: null },
]
const NAMES = new Map([
  ['a.example', 1],
  ['b.example', 8],
  ['xn--bcher-kva.example', 9],
])
const lists: CompactLists = { table: buildNameTable(NAMES), sources: SOURCES }

describe('compact lists as bytes', () => {
  it('come back as they were, whatever is in them', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.stringMatching(/^[a-z]{1,60}\.example$/), { maxLength: 40 }),
        fc.integer({ min: 1, max: 255 }),
        (names, value) => {
          const back = decodeLists(
            encodeLists({ table: buildNameTable(new Map(names.map((n) => [n, value]))), sources: SOURCES }),
          )!
          const table = openCompactSet(back.table)
          expect(back.sources).toEqual(SOURCES)
          expect(names.map((name) => table.get(name))).toEqual(names.map(() => value))
          expect([table.size, table.get('other.example')]).toEqual([names.length, 0])
        },
      ),
    )
  })

  it('are read wherever they lie in memory, and take none of their own where they lie well', () => {
    const bytes = encodeLists(lists)
    const places = [0, 1, 2, 3].map((at) => {
      const moved = Buffer.alloc(bytes.length + 8).subarray(at, at + bytes.length)
      moved.set(bytes)
      const { table } = decodeLists(moved)!
      expect([...NAMES.keys()].map((name) => openCompactSet(table).get(name))).toEqual([...NAMES.values()])
      return table.slots.buffer === moved.buffer
    })
    expect(places).toEqual([true, false, false, false])
  })

  const change = (over: Partial<CompactLists['table']>) =>
    encodeLists({ ...lists, table: { ...lists.table, ...over } })
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a line alone', Buffer.from('{}\n')],
    ['no JSON', Buffer.from('lists\n')],
    ['no sources', Buffer.from('{"size":0,"block":1,"slots":1}\n\0\0\0\0\0')],
    ['sources that are none', Buffer.from('{"size":0,"block":1,"slots":1,"sources":[{}]}\n\0\0\0\0\0')],
    ['no source at all', Buffer.from('{"size":0,"block":1,"slots":1,"sources":[null]}\n\0\0\0\0\0')],
    ['no slots', Buffer.from('{"size":0,"block":1,"slots":0,"sources":[]}\n\0')],
    ['a length below nothing', Buffer.from('{"size":0,"block":-4,"slots":1,"sources":[]}\n')],
    ['a length that is none', Buffer.from('{"size":0,"block":"1","slots":1,"sources":[]}\n\0\0\0\0\0')],
    ['null', Buffer.from('null\n')],
    ['another size', change({ size: 2 })],
    ['slots that are no power of two', change({ slots: new Uint32Array(3), size: 0 })],
    ['no empty slot', change({ slots: new Uint32Array(4).fill(1), size: 4 })],
    ['a name beyond the block', change({ slots: Uint32Array.of(lists.table.block.length, 0), size: 1 })],
    ['a name that is cut off', change({ block: lists.table.block.subarray(0, -1) })],
    [
      'an offset of the last byte',
      change({ slots: Uint32Array.of(lists.table.block.length - 1, 0), size: 1 }),
    ],
  ])('are refused: %s', (_what, bytes) => {
    expect(decodeLists(bytes)).toBeUndefined()
  })

  it('are refused when a byte is missing, wherever they end', () => {
    const bytes = encodeLists(lists)
    for (let end = 0; end < bytes.length; end++) expect(decodeLists(bytes.subarray(0, end))).toBeUndefined()
    expect(decodeLists(bytes)).toBeDefined()
  })
})
