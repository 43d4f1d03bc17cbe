import { describe, expect, it } from 'vitest'
import { isAtOtherName } from '../../../src/doors/http/own-name.ts'

const isOther = (host: string | undefined, own: string) => isAtOtherName({ headers: { host } }, new URL(own))

describe('a page has one address', () => {
  it.each([
    ['127.0.0.1:8402', 'http://localhost:8402', true],
    ['[::1]:8402', 'http://localhost:8402', true],
    ['127.0.0.1', 'http://localhost', true],
    ['localhost:8402', 'http://localhost:8402', false],
    ['127.0.0.1:9000', 'http://localhost:8402', false],
    ['localhost:9000', 'http://localhost:8402', false],
    ['127.0.0.1:8402', 'http://127.0.0.1:8402', false],
    ['127.0.0.1', 'https://gateway.example', false],
    [undefined, 'http://localhost:8402', false],
  ])('%s is another name of %s: %s', (host, own, expected) => expect(isOther(host, own)).toBe(expected))
})
