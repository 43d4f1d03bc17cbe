import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { neverGone } from '../../../src/core/priced-run.ts'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import { Execution, MAX_HTML_CHARACTERS } from '../../../schemas/outcome.ts'
import { createTestOutcomes, previewOf } from '../../support/outcomes.ts'

const RUNS = inject('fuzzInputs')

const outcomes = createTestOutcomes()
const context = {
  signal: neverGone,
}
const execute = async (input: unknown) => outcomes.plan(ExecuteRequest.parse(input)).run(context)
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')

const PIECES = [
  '<p>', '</p>', '<div>', '</div>', '<table>', '<tr>', '<td>', '<th>', '</table>', '<ul>', '<li>', '<ol>', '<a href="/x">', '</a>',
  '<a href=javascript:x>', '<h1>', '</h1>', '<pre>', '</pre>', '<b>', '</i>', '<br>', '<script>', '</script>', '<style>', '<!--', '-->',
  '<title>', '</title>', '<main>', '<article>', '<nav>', '<svg>', '</svg>', '<template>', '<noscript>', '<base href="//b.example">',
  '<script type="application/ld+json">{"@type":"Product","offers":[{"price":1}]}</script>', '<meta name=author content=x>', '<p hidden>',
  '&lt;', '&#0;', '&#xD800;', '&NotEqualTilde;', '\u200B', '\u202E', '\uD800', '"', "'", '=', '<', '>', ' word ', 'نص', '\n', '|', '`', '*',
] // prettier-ignore
const html = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 300 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 2000 }),
)
const MAX_ANSWER_BYTES = 768 * 1024

describe('whatever HTML is sent', () => {
  it('gives an answer of the published shape, within bounds, whose digests recompute', async () => {
    await fc.assert(
      fc.asyncProperty(html, fc.option(fc.webUrl(), { nil: undefined }), async (source, url) => {
        const answer = Execution.parse(await execute({ html: source, ...(url === undefined ? {} : { url }) }))
        const { document } = previewOf(answer)
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MAX_ANSWER_BYTES)
        expect(answer.verification).toMatchObject({
          source_sha256: sha256(source),
          text_sha256: sha256(document.text),
          result_sha256: sha256(canonicalize(answer.result)!),
        })
        expect(document.text.normalize('NFC')).toBe(document.text)
      }),
      { numRuns: Math.min(10 * RUNS, 1000) },
    )
  })

  it('gives the same bytes for the same input', async () => {
    await fc.assert(
      fc.asyncProperty(html, async (source) => {
        expect(JSON.stringify(await execute({ html: source }))).toBe(
          JSON.stringify(await execute({ html: source })),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('lets nothing of a script, style, template or comment out', async () => {
    const wrap = fc.constantFrom<[string, string]>(
      ['<script>', '</script>'],
      ['<style>', '</style>'],
      ['<!--', '-->'],
      ['<template><p>', '</p></template>'],
      ['<noscript><p>', '</p></noscript>'],
      ['<div hidden><p>', '</p></div>'],
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('<div>', '<p>', '<ul><li>', '<table><tr><td>', '<b>', 'a '), {
          maxLength: 400,
        }),
        wrap,
        async (before, [open, close]) => {
          const source = `${before.join('')}${open}CANARY ${close}after`
          const { document } = previewOf(await execute({ html: source }))
          expect(JSON.stringify(document)).not.toContain('CANARY')
          expect(document.text).toContain('after')
        },
      ),
      { numRuns: Math.min(5 * RUNS, 500) },
    )
  })
})

describe('pages made to multiply', () => {
  const fill = (piece: string, tail = '') => piece.repeat(MAX_HTML_CHARACTERS / piece.length) + tail
  it.each([
    ['nested divs', fill('<div>')],
    ['nested links', fill('<a href=x>y')],
    ['nested tables', fill('<table><tr><td>x')],
    ['nested lists', fill('<ul><li>x')],
    ['one huge row among short ones', `<table>${'<tr><td>a'.repeat(600)}<tr>${'<td>b'.repeat(1200)}`],
    ['a wide table of short rows', `<table><tr>${'<td>b'.repeat(60)}${'<tr><td>a'.repeat(1200)}`],
    [
      'links under a long base',
      `<base href="https://a.example/${'y'.repeat(1900)}/">${'<a href=z>x</a>'.repeat(600)}`,
    ],
    [
      'distinct links under a long base',
      Array.from({ length: 600 }, (_, i) => `<a href=${i}>x</a>`).join(''),
    ],
    ['characters that escape to more', fill('|')],
    ['characters that NFC makes longer', fill('\u{1D160}')],
    ['attributes', `<p ${'a=b '.repeat(3000)}>x`],
    ['end tags', fill('</b>')],
    ['open comments', fill('<!--')],
    [
      'JSON-LD of deep arrays',
      `<script type="application/ld+json">${'['.repeat(5000)}${']'.repeat(5000)}</script>`,
    ],
    ['hidden inside hidden', fill('<p hidden>x')],
    ['half instructions', fill('ignore all the ')],
  ])('%s stay bounded', async (_, source) => {
    const answer = await execute({ html: source, url: `https://a.example/${'x'.repeat(1900)}/` })
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MAX_ANSWER_BYTES)
  })
})
