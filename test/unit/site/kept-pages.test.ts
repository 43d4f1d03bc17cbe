// Pages that are drawn once: how many of them, and for whom.
import { describe, expect, it } from 'vitest'
import type { FixedDocument } from '../../../src/doors/http/document.ts'
import { createKeptPages } from '../../../src/doors/site/kept-pages.ts'

const documentOf = (): FixedDocument => ({ send: () => {} })
const pageOf = (bytes: number, isForAnyQuery = true) => ({ document: documentOf(), bytes, isForAnyQuery })

describe('kept pages', () => {
  it('go when they are too large together, the longest unasked first', () => {
    const kept = createKeptPages(100)
    const pages = ['a', 'b', 'c'].map((name) => ({ name, ...pageOf(40) }))
    const [a, b, c] = pages
    kept.keep('a', a!)
    kept.keep('b', b!)
    expect(kept.find('a', '')).toBe(a!.document)
    kept.keep('c', c!)
    expect(['a', 'b', 'c'].filter((key) => kept.find(key, ''))).toEqual(['a', 'c'])
  })

  it('count once where they are kept again, and not at all where one alone is too large', () => {
    const kept = createKeptPages(100)
    for (let times = 0; times < 9; times++) kept.keep('a', pageOf(60))
    kept.keep('b', pageOf(40))
    kept.keep('huge', pageOf(101))
    expect(['a', 'b', 'huge'].filter((key) => kept.find(key, ''))).toEqual(['a', 'b'])
  })

  it('are for a query only where it changes nothing', () => {
    const kept = createKeptPages()
    kept.keep('any', pageOf(1))
    kept.keep('path', pageOf(1, false))
    expect(kept.find('any', 'x=1')).toBeDefined()
    expect(kept.find('path', 'x=1')).toBeUndefined()
    expect(kept.find('path', '')).toBeDefined()
  })
})
