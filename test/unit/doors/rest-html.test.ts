import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeHtml, html, prose } from '../../../src/doors/rest/html.ts'

describe('html', () => {
  it('escapes values and keeps markup', () => {
    expect(html`<p title="${'"x"'}">${'<b>'}${html`<i>${'&'}</i>`}</p>`.markup).toBe(
      '<p title="&quot;x&quot;">&lt;b&gt;<i>&amp;</i></p>',
    )
  })

  it('joins lists and leaves out what is absent', () => {
    expect(html`${['a', 1, undefined, false, html`<br />`]}`.markup).toBe('a1<br />')
  })

  it('turns what stands in backticks into code, escaped', () => {
    expect(prose('Send `intent: "<demo>"` & see a ` alone.').markup).toBe(
      'Send <code>intent: &quot;&lt;demo&gt;&quot;</code> &amp; see a ` alone.',
    )
  })

  it('lets no text open a tag or leave an attribute', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/)
      }),
    )
  })
})
