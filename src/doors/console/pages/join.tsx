// Joining by invitation: a passkey is made, and recovery codes are shown this once.
import { z } from 'zod'
import { Island } from '../../site/components/island.tsx'
import { Link } from '../../site/components/link.tsx'
import { GatewayError } from '../../../core/errors.ts'
import { Codes } from '../components/codes.tsx'
import { Refusal } from '../components/form.tsx'
import { JoinForm } from '../components/join-form.tsx'
import { defineOpenPage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { keepSession } from './sign-in.tsx'

interface JoinData {
  readonly signedInAs: string | null
  /** Shown this once. */
  readonly codes: readonly string[] | null
}

const Name = z.string().trim().min(1).max(100)

/** @throws {GatewayError} input_invalid */
export function nameOf(form: URLSearchParams): string {
  const { data, success } = Name.safeParse(form.get('name') ?? '')
  if (!success) throw new GatewayError('input_invalid', 'Give a name of 1 to 100 characters.')
  return data
}
const invitationOf = (form: URLSearchParams) => form.get('secret_invitation') ?? ''

export const page = defineOpenPage<JoinData>({
  load: ({ signedIn }) => ({ signedInAs: signedIn?.name ?? null, codes: null }),
  actions: {
    look: async (form, { console: parts }) => ({
      answer: await parts.identity.signIn.look(invitationOf(form)),
    }),
    ask: async (form, { console: parts }) => ({
      answer: await parts.identity.signIn.askJoin(invitationOf(form), nameOf(form)),
    }),
    async join(form, request) {
      const { address, userAgent } = request.visitor
      const opened = await request.console.identity.signIn.join({
        invitation: invitationOf(form),
        personId: form.get('person') ?? '',
        name: nameOf(form),
        answer: form.get('secret_answer') ?? '',
        from: { address, userAgent },
      })
      request.exchange.res.setHeader('set-cookie', await keepSession(request, opened))
      return { show: { signedInAs: null, codes: opened.codes }, signedIn: opened.signedIn }
    },
    async join_as(form, request) {
      const { signedIn, visitor } = request
      if (!signedIn) throw new GatewayError('sign_in_required', 'You are signed out. Sign in.')
      const { address, userAgent } = visitor
      await request.console.identity.signIn.joinAs({
        invitation: invitationOf(form),
        signedIn,
        from: { address, userAgent },
      })
      return { goTo: '/console/me?done=joined' }
    },
  },
  title: (_data, { language }) => signInTexts[language].join,
  View({ data: { codes, signedInAs }, page }) {
    const t = signInTexts[page.language]
    if (codes)
      return (
        <div class="console-gate stack">
          <h1>{t.codes}</h1>
          <p class="lead">{t.codesLead}</p>
          <Codes codes={codes} page={page} />
          <Link to={page.href('/console')} class="button primary">
            {t.keptThem}
          </Link>
        </div>
      )
    return (
      <div class="console-gate stack">
        <h1>{t.join}</h1>
        <Refusal page={page} />
        <noscript>
          <p class="notice warns">{t.joinNeedsScript}</p>
        </noscript>
        <Island
          name="console-join"
          page={page}
          component={JoinForm}
          props={{
            language: page.language,
            roles: consoleTexts[page.language].roles,
            to: page.href('/console/join'),
            csrf: page.csrf,
            signedInAs,
          }}
        />
      </div>
    )
  },
})
