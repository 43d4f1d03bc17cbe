import { describe, expect, it } from 'vitest'
import { chooseForm } from '../../../src/doors/site/negotiation.ts'

describe('chooseForm', () => {
  it.each([
    [undefined, 'html', 'html'],
    ['*/*', 'html', 'html'],
    ['*/*', 'json', 'json'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'json', 'html'],
    ['text/html,*/*', 'json', 'html'],
    ['application/json, text/plain, */*', 'html', 'json'],
    ['text/html, application/json', 'json', 'json'],
    ['text/markdown', 'html', 'markdown'],
    ['text/markdown, text/html;q=0.5', 'html', 'markdown'],
    ['application/json', 'html', 'json'],
    ['application/*', 'html', 'json'],
    ['text/*', 'json', 'html'],
    ['text/html;q=0, */*', 'html', 'markdown'],
    ['image/png', 'html', 'html'],
    ['', 'html', 'html'],
  ] as const)('answers %j, where %s is usual, with %s', (accept, usual, form) => {
    expect(chooseForm(accept, usual)).toBe(form)
  })
})
