// Which browser a waiting request belongs to. Whoever was lured to the consent page of somebody else's request would connect that other
// one's client: an address of the page is good in the browser alone that was sent there.
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const MAX_AGE_SECONDS = 3600
const NAME = /^[\w-]{22}$/

export type Browsers = ReturnType<typeof createBrowsers>

export function createBrowsers({ baseUrl, key }: { readonly baseUrl: string; readonly key: KeyObject }) {
  const isSecure = baseUrl.startsWith('https:')
  const cookie = isSecure ? '__Host-agw-ask' : `agw-ask-${new URL(baseUrl).port || '80'}`

  function nameOf(req: IncomingMessage): string | undefined {
    const values = (req.headers.cookie ?? '')
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part.startsWith(`${cookie}=`))
      .map((part) => part.slice(cookie.length + 1))
    const [only] = values
    return values.length === 1 && only !== undefined && NAME.test(only) ? only : undefined
  }

  const proofOf = (browser: string, subject: string): Buffer =>
    createHmac('sha256', key).update(`${browser} ${subject}`).digest().subarray(0, 16)

  return {
    /** @returns the subject with a proof that fits this browser; the browser gets a name where it has none */
    bind(req: IncomingMessage, res: ServerResponse, subject: string): string {
      const known = nameOf(req)
      const browser = known ?? randomBytes(16).toString('base64url')
      const set = `${cookie}=${browser}; Path=/; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
      res.appendHeader('set-cookie', set)
      return `${subject}.${proofOf(browser, subject).toString('base64url')}`
    },
    /** @returns the subject, where it was bound to this browser */
    check(req: IncomingMessage, bound: string): string | undefined {
      const dot = bound.lastIndexOf('.')
      const browser = nameOf(req)
      if (dot < 0 || browser === undefined) return undefined
      const subject = bound.slice(0, dot)
      const given = Buffer.from(bound.slice(dot + 1), 'base64url')
      const right = proofOf(browser, subject)
      return given.length === right.length && timingSafeEqual(given, right) ? subject : undefined
    },
  }
}
