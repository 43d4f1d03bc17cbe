import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventSplitter } from '../../../../src/egress/relay/events.ts'

function split(pieces: readonly string[]) {
  const splitter = createEventSplitter()
  const out = pieces.map((piece) => splitter.push(Buffer.from(piece))?.bytes.toString())
  return { out, count: splitter.count(), rest: splitter.rest().toString() }
}

describe('events of a stream', () => {
  it.each([
    ['as LF', '\n'],
    ['as CR', '\r'],
    ['as CR and LF', '\r\n'],
  ])('are passed on when they are whole, lines ending %s', (_name, eol) => {
    const one = `event: a${eol}data: 1${eol}${eol}`
    const two = `data: 2${eol}${eol}`
    expect(split([one + two])).toEqual({ out: [one + two], count: 2, rest: '' })
    expect(split([one + 'data:', ` 2${eol}${eol}`])).toEqual({ out: [one, two], count: 2, rest: '' })
    expect(split(['data: 1'])).toEqual({ out: [undefined], count: 0, rest: 'data: 1' })
  })

  it('are passed on whole wherever the pieces end, and nothing is lost', () => {
    const text = 'data: 1\n\nevent: b\r\ndata: 2\r\ndata: 3\r\n\r\n: ping\n\ndata: 4\n\n'
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (sizes) => {
        const pieces: string[] = []
        for (let at = 0, i = 0; at < text.length; at += sizes[i++ % sizes.length]!)
          pieces.push(text.slice(at, at + sizes[i % sizes.length]!))
        const { out, rest } = split(pieces)
        const passed = out.filter((part) => part !== undefined)
        expect(passed.join('') + rest).toBe(text)
        for (const part of passed) expect(part).toMatch(/(?:\n\n|\r\n\r\n?)$/)
      }),
    )
  })

  it('are passed on in pieces where they are longer than a mebibyte', () => {
    const splitter = createEventSplitter()
    expect(splitter.push(Buffer.alloc(1024 * 1024, 'a'))).toBeUndefined()
    expect(splitter.push(Buffer.from('b'))).toMatchObject({ isRounded: false })
  })
})
