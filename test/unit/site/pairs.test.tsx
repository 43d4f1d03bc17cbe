// The members of a signed document, which anybody may have signed.
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { Pairs } from '../../../src/doors/site/components/proof/pairs.tsx'

it('shows the other members where one is nested a hundred thousand deep', () => {
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  const html = renderToString(<Pairs value={{ deep, amount: '1000' }} />)
  expect(html).toContain('1000')
  expect(html).toContain('…')
})
