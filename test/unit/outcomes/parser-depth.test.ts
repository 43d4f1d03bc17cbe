// The parser's own memory of open elements. Counted instead of timed: without the bound it is as long as the nesting is deep.
import { Parser } from 'htmlparser2'
import { describe, expect, it } from 'vitest'
import { boundDepth } from '../../../src/outcomes/structured/parser-depth.ts'

function parse(html: string) {
  let deepest = 0
  let texts = ''
  const tags: string[] = []
  const kept = () => parser as unknown as { stack: string[]; foreignContext: unknown[] }
  const parser = new Parser({
    onopentag(name) {
      boundDepth(parser)
      tags.push(name)
      deepest = Math.max(deepest, kept().stack.length, kept().foreignContext.length)
    },
    onclosetag: (name) => tags.push(`/${name}`),
    ontext: (text) => (texts += text),
  })
  parser.write(html)
  parser.end()
  return { deepest, texts, tags }
}

describe('deeply nested elements', () => {
  it.each(['<div>', '<svg>', '<b><i>', '<svg><foreignObject>'])(
    '%s: only the innermost are remembered',
    (tag) => {
      const { deepest, texts } = parse(`${tag.repeat(50_000)}the end`)
      expect(deepest).toBeGreaterThan(256)
      expect(deepest).toBeLessThanOrEqual(513)
      expect(texts).toBe('the end')
    },
  )

  it('are closed by their end tags as far as they are remembered', () => {
    const { tags } = parse(`${'<div>'.repeat(600)}<p>x</p>${'</div>'.repeat(600)}<hr>`)
    expect(tags.filter((tag) => tag === 'div')).toHaveLength(600)
    expect(tags.filter((tag) => tag === '/div')).toHaveLength(511)
    expect(tags.at(-2)).toBe('hr')
  })

  it('of an ordinary page are left alone', () => {
    const html = `${'<div>'.repeat(100)}<p>x</p>${'</div>'.repeat(100)}`
    expect(parse(html).tags.filter((tag) => tag === '/div')).toHaveLength(100)
  })
})
