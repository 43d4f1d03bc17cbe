// Where the identity provider sends the browser back to. The session opens here, and the browser goes on to where it began.
import { toGatewayError } from '../../../core/errors.ts'
import { sendText } from '../../http/reply.ts'
import { Link } from '../../site/components/link.tsx'
import { readCookie, waitingCookie, waitingCookieName } from '../cookie.ts'
import { defineOpenPage } from '../ports.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { keepSession, safeNext } from './sign-in.tsx'

interface CallbackData {
  /** Why nobody is signed in. */
  readonly problem: string
}

export const page = defineOpenPage<CallbackData>({
  async load(request) {
    const { console: parts, exchange, query, visitor, signedIn } = request
    const { baseUrl } = parts.addresses
    const { req, res } = exchange
    const [browser = '', isAgain, next = ''] = (readCookie(req, waitingCookieName(req, baseUrl)) ?? '').split(
      '.',
    )
    const { address, userAgent } = visitor
    try {
      const opened = await parts.identity.provider.finish({
        query,
        browser,
        signedIn: isAgain === '1' ? signedIn : undefined,
        from: { address, userAgent },
      })
      const cookies = [waitingCookie(req, baseUrl, undefined)]
      if (opened) cookies.push(await keepSession(request, opened))
      res.setHeader('set-cookie', cookies)
      const to = new URL(parts.addresses.baseUrl).pathname.replace(/\/$/, '')
      sendText(res, 303, '', {
        location: to + safeNext(Buffer.from(next, 'base64url').toString('utf8')),
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-request-id': visitor.requestId,
      })
      return { problem: '' }
    } catch (thrown) {
      const error = toGatewayError(thrown)
      if (error.code === 'internal') throw thrown
      await request.tell(error)
      return { problem: error.message }
    }
  },
  title: (_data, { language }) => signInTexts[language].signIn,
  View({ data, page }) {
    const t = signInTexts[page.language]
    return (
      <div class="console-gate stack">
        <h1>{t.signIn}</h1>
        <p class="notice fails" role="alert">
          <span lang="en" dir="ltr">
            {data.problem}
          </span>
        </p>
        <Link to={page.href('/console/sign-in')} class="button primary">
          {t.signIn}
        </Link>
      </div>
    )
  },
})
