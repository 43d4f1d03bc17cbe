// Words and addresses of strangers, as pages show them.
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { Foreign } from '../../../src/doors/site/components/foreign.tsx'
import { isSafeAddress, Link } from '../../../src/doors/site/components/link.tsx'

describe('Foreign', () => {
  it('shows markup as text', () => {
    expect(renderToString(<Foreign text="<img src=x onerror=alert(1)>" />)).toContain('&lt;img src=x')
  })

  it.each(['\u202E', '\u2066', '\u200B', '\u0000', '\uFEFF', '\u{E0041}'])(
    'names the control %j',
    (control) => {
      const html = renderToString(<Foreign text={`a${control}b`} />)
      expect(html).not.toContain(control)
      expect(html).toContain(
        `<span class="chip">U+${control.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}</span>`,
      )
    },
  )

  it('leaves the joiners that Persian and emoji are written with', () => {
    expect(renderToString(<Foreign text={'می\u200Cخواهم'} />)).toContain('می\u200Cخواهم')
  })

  it('cuts what is too long, and says so', () => {
    expect(renderToString(<Foreign text={'x'.repeat(11)} max={10} />)).toContain(`>${'x'.repeat(10)}…<`)
  })
})

describe('Link', () => {
  it.each([
    '/catalogue',
    '/',
    '#content',
    '?page=2',
    'https://example.com/',
    'http://localhost:1/',
    'mailto:a@example.com',
  ])('leads to %s', (to) => expect(isSafeAddress(to)).toBe(true))

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'blob:https://example.com/1',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com/',
    '/\\example.com/',
    'example.com',
    '',
  ])('shows only the words for %j', (to) => {
    expect(isSafeAddress(to)).toBe(false)
    expect(renderToString(<Link to={to}>words</Link>)).toBe('<span>words</span>')
  })

  it('tells search engines of a link that a stranger wrote', () => {
    expect(
      renderToString(
        <Link to="https://example.com/" isForeign>
          words
        </Link>,
      ),
    ).toContain('rel="noopener noreferrer nofollow ugc"')
  })
})
