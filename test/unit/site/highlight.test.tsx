// Code in colours: no character of it is lost, and marks within texts are no comments.
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { highlight } from '../../../src/doors/site/components/highlight.tsx'

const drawn = (text: string, language: string) => renderToString(<code>{highlight(text, language)}</code>)

it.each([
  ['ts', "const a = 'https://x' // why", ['word">const', "text\">'https://x'", 'comment">// why']],
  ['sh', 'curl -s http://x/#y # all', ['comment"># all']],
  ['json', '{"a": "b//c", "n": true}', ['text">"a"', 'text">"b//c"', 'text">"n"', 'word">true']],
  ['python', 'for x in y:  # each', ['word">for', 'word">in', 'comment"># each']],
  ['text', "const 'x'", []],
])('%s: %s', (language, text, pieces) => {
  const html = drawn(text, language)
  for (const piece of pieces)
    expect(html.replaceAll('&quot;', '"')).toContain(`<span class="code-${piece}</span>`)
  expect(html.match(/<span/g)?.length ?? 0).toBe(pieces.length)
  expect(
    html
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&'),
  ).toBe(text)
})

it('leaves a long program as it is', () => {
  expect(highlight('const '.repeat(5000), 'ts')).toHaveLength(1)
})
