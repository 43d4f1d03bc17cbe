// People: joining, signing in, showing again that it is them, and everything that others try with their links, challenges and passkeys.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cookieName } from '../../src/doors/console/cookie.ts'
import type { Role } from '../../schemas/role.ts'
import { hashToken } from '../../src/lib/tokens.ts'
import { createSoftKey, type SoftKey } from '../support/authenticator.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'

const FRESH_MS = 5 * 60_000
let gateway: TestGateway
/** Time passes where a test says so. */
let skipped = 0
beforeAll(async () => {
  gateway = await startTestGateway({ now: () => Date.now() + skipped })
})
afterAll(() => gateway?.close())

type Form = Readonly<Record<string, string>>
interface Sent {
  readonly status: number
  readonly text: string
  readonly cookie: string | undefined
  readonly location: string | null
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any
}

const origin = () => new URL(gateway.baseUrl).origin
/** A browser of nobody in particular, or of whoever has the cookie. */
function browser(cookie = '', userAgent = 'a browser') {
  const headers = { 'sec-fetch-site': 'same-origin', 'user-agent': userAgent, ...(cookie && { cookie }) }
  async function send(path: string, form: Form, accept = 'text/html'): Promise<Sent> {
    const page = await fetch(gateway.baseUrl + path, { headers: { ...headers, accept: 'text/html' } })
    const [, csrf = ''] =
      /(?:name="_csrf" value="|&quot;csrf&quot;:&quot;)([\w-]+)/.exec(await page.text()) ?? []
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, accept },
      body: new URLSearchParams({ _csrf: csrf, ...form }),
      redirect: 'manual',
    })
    const text = await answer.text()
    const [set] = answer.headers.getSetCookie()
    return {
      status: answer.status,
      text,
      cookie: set?.split(';')[0],
      location: answer.headers.get('location'),
      data: accept === 'application/json' && text.startsWith('{') ? JSON.parse(text) : undefined,
    }
  }
  return {
    send,
    ask: async (path: string, form: Form) => (await send(path, form, 'application/json')).data,
  }
}

async function invite(role: Role = 'operator', name = 'Layla', personId?: string): Promise<string> {
  const { rest } = gateway
  const made = await rest('POST', '/v1/people/invitations', {
    role,
    name,
    ...(personId !== undefined && { person_id: personId }),
  })
  expect(made.status).toBe(201)
  return made.body.link.split('#')[1]
}

async function join(invitation: string, name = 'Layla', key: SoftKey = createSoftKey()) {
  const { ask, send } = browser()
  const asked = await ask('/console/join', { _action: 'ask', secret_invitation: invitation, name })
  const answer = key.create(asked.options, { origin: origin() })
  const joined = await send('/console/join', {
    _action: 'join',
    secret_invitation: invitation,
    person: asked.personId,
    name,
    secret_answer: answer,
  })
  return { key, joined, personId: asked.personId as string, answer }
}

async function signInWith(key: SoftKey, how = {}) {
  const { ask, send } = browser()
  const options = await ask('/console/sign-in', { _action: 'ask' })
  const answer = key.get(options, { origin: origin(), ...how })
  return { answer, sent: await send('/console/sign-in', { _action: 'passkey', secret_answer: answer }) }
}

const codesIn = (html: string) => html.match(/(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}/g) ?? []
const refusal = 'This passkey was not accepted'

describe('an invitation', () => {
  it('lets one person in, in the role that it says, with recovery codes that are shown once', async () => {
    const { joined, personId, key } = await join(await invite('approver', 'Sarah <b>'), 'Sarah <b>Haddad</b>')
    expect(joined.status).toBe(200)
    expect(codesIn(joined.text)).toHaveLength(10)
    expect(joined.cookie).toMatch(new RegExp(`^${cookieName(gateway.baseUrl, '')}=agw_ss_\\w{49}$`))
    const { body } = await gateway.rest('GET', '/v1/people')
    expect(body.people.find(({ person_id: id }: { person_id: string }) => id === personId)).toMatchObject({
      name: 'Sarah <b>Haddad</b>',
      role: 'approver',
      passkeys: 1,
    })
    const { sent } = await signInWith(key)
    expect([sent.status, sent.location]).toEqual([303, '/console'])
    expect(sent.cookie).not.toBe(joined.cookie)
  })

  it('opens nothing a second time, and of twenty at once one joins', async () => {
    const invitation = await invite()
    const ready = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const key = createSoftKey()
        const { ask, send } = browser()
        const asked = await ask('/console/join', { _action: 'ask', secret_invitation: invitation, name: 'X' })
        const form = {
          _action: 'join',
          secret_invitation: invitation,
          person: asked.personId,
          name: 'X',
          secret_answer: key.create(asked.options, { origin: origin() }),
        }
        return () => send('/console/join', form)
      }),
    )
    const results = await Promise.all(ready.map((send) => send()))
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(results.filter(({ status }) => status === 403)).toHaveLength(19)
    const again = await browser().ask('/console/join', { _action: 'look', secret_invitation: invitation })
    expect(again.code).toBe('invitation_invalid')
  })

  it('is over after an hour, and when it is withdrawn', async () => {
    const [late, withdrawn] = [await invite(), await invite()]
    const { body } = await gateway.rest('GET', '/v1/people')
    const [newest] = body.invitations as { invitation_id: string }[]
    const ended = await gateway.rest('POST', `/v1/people/invitations/${newest?.invitation_id}/revoke`)
    expect(ended.status).toBe(200)
    skipped += 3_600_001
    for (const link of [late, withdrawn, 'agw_inv_x', '']) {
      const looked = await browser().ask('/console/join', { _action: 'look', secret_invitation: link })
      expect(looked.code, link).toBe('invitation_invalid')
    }
    const fresh = await invite()
    expect((await browser().ask('/console/join', { _action: 'look', secret_invitation: fresh })).role).toBe(
      'operator',
    )
  })

  it('makes nobody of those whom it was not shown to: the person of its challenge is the one who joins', async () => {
    const victim = await signIn(gateway, { name: 'Victim' })
    const invitation = await invite()
    const key = createSoftKey()
    const { ask, send } = browser()
    const asked = await ask('/console/join', { _action: 'ask', secret_invitation: invitation, name: 'X' })
    const sent = await send('/console/join', {
      _action: 'join',
      secret_invitation: invitation,
      person: victim.personId,
      name: 'X',
      secret_answer: key.create(asked.options, { origin: origin() }),
    })
    expect([sent.status, sent.text.includes(refusal)]).toEqual([403, true])
  })

  it('gives a member a new passkey, and ends the old ones and their sessions', async () => {
    const { key: lost, personId } = await join(await invite())
    const thief = await signInWith(lost)
    const { key } = await join(await invite('owner', 'x', personId))
    expect((await signInWith(lost)).sent.status).toBe(403)
    expect((await signInWith(key)).sent.status).toBe(303)
    const stolen = await fetch(`${gateway.baseUrl}/console/me`, {
      headers: { cookie: thief.sent.cookie ?? '', 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    })
    expect(stolen.status).toBe(303)
    const { body } = await gateway.rest('GET', '/v1/people')
    expect(body.people.find(({ person_id: id }: { person_id: string }) => id === personId).role).toBe(
      'operator',
    )
  })

  it('is no way for the owner of one account into another: a member of two gets no passkey from either', async () => {
    const other = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'other' })).body
    const guest = await join(await invite())
    const cookie = (await signInWith(guest.key)).sent.cookie ?? ''
    const made = await gateway.rest('POST', '/v1/people/invitations', { role: 'auditor' }, other.key)
    const joined = await browser(cookie).send('/console/join', {
      _action: 'join_as',
      secret_invitation: made.body.link.split('#')[1],
    })
    expect([joined.status, joined.location]).toEqual([303, '/console/me?done=joined'])
    const reset = await gateway.rest(
      'POST',
      '/v1/people/invitations',
      { person_id: guest.personId },
      other.key,
    )
    expect([reset.status, reset.body.code]).toEqual([409, 'state_conflict'])
  })
})

describe('a passkey', () => {
  it('answers a challenge once', async () => {
    const { key } = await join(await invite())
    const { answer, sent } = await signInWith(key)
    expect(sent.status).toBe(303)
    const again = await browser().send('/console/sign-in', { _action: 'passkey', secret_answer: answer })
    expect([again.status, again.cookie, again.text.includes(refusal)]).toEqual([403, undefined, true])
  })

  it('answers in five minutes, and no challenge that this gateway did not make for it', async () => {
    const { key } = await join(await invite())
    const { ask, send } = browser()
    const late = key.get(await ask('/console/sign-in', { _action: 'ask' }), { origin: origin() })
    skipped += 5 * 60_000 + 1
    const invented = key.get({ challenge: 'aW52ZW50ZWQ' }, { origin: origin() })
    const owner = browser((await signInWith(key)).sent.cookie)
    const forAgain = await owner.ask('/console/sign-in', { _action: 'ask_again' })
    const other = key.get(forAgain, { origin: origin() })
    for (const answer of [late, invented, other, '{}', 'no json', '']) {
      const sent = await send('/console/sign-in', { _action: 'passkey', secret_answer: answer })
      expect([sent.status, sent.cookie], answer.slice(0, 20)).toEqual([403, undefined])
    }
  })

  it.each<[string, () => object]>([
    ['of another origin', () => ({ origin: 'https://evil.example', rpId: new URL(origin()).hostname })],
    ['of another port', () => ({ origin: 'http://localhost:1', rpId: new URL(origin()).hostname })],
    ['for another party', () => ({ rpId: 'evil.example' })],
    ['that nobody verified', () => ({ flags: 1 })],
    ['of another kind', () => ({ type: 'webauthn.create' })],
    ['that names somebody else', () => ({ userHandle: Buffer.from('per_other').toString('base64url') })],
  ])('is refused with an answer %s', async (_, how) => {
    const { key } = await join(await invite())
    expect((await signInWith(key, how())).sent.status).toBe(403)
    expect((await signInWith(key)).sent.status).toBe(303)
  })

  it('is refused where it counted further before', async () => {
    const { key } = await join(await invite())
    expect((await signInWith(key, { counter: 50 })).sent.status).toBe(303)
    for (const counter of [50, 49, 0]) expect((await signInWith(key, { counter })).sent.status).toBe(403)
    expect((await signInWith(key, { counter: 51 })).sent.status).toBe(303)
  })

  it('of somebody else does not show that it is you', async () => {
    const [mine, theirs] = [await join(await invite()), await join(await invite())]
    const { send, ask } = browser((await signInWith(mine.key)).sent.cookie)
    for (const [key, status] of [
      [theirs.key, 403],
      [mine.key, 303],
    ] as const) {
      const options = await ask('/console/sign-in', { _action: 'ask_again' })
      const sent = await send('/console/sign-in?again=1', {
        _action: 'again',
        again: '1',
        secret_answer: key.get(options, { origin: origin() }),
      })
      expect(sent.status).toBe(status)
    }
  })

  it('is added and removed by its person, whose last one stays', async () => {
    const { key, personId } = await join(await invite())
    const { send, ask } = browser((await signInWith(key)).sent.cookie)
    const second = createSoftKey()
    const options = await ask('/console/me', { _action: 'ask' })
    const added = await send('/console/me', {
      _action: 'add',
      label: 'Phone <script>',
      secret_answer: second.create(options, { origin: origin() }),
    })
    expect(added.location).toBe('/console/me?done=passkey')
    expect((await signInWith(second)).sent.status).toBe(303)
    const [newest, oldest] = await gateway.services.identity.signIn.passkeys(personId)
    const stranger = browser((await signIn(gateway)).cookie)
    const foreign = await stranger.send('/console/me', { _action: 'remove', passkey: oldest?.id ?? '' })
    expect(foreign.status).toBe(404)
    expect((await send('/console/me', { _action: 'remove', passkey: oldest?.id ?? '' })).status).toBe(303)
    expect((await send('/console/me', { _action: 'remove', passkey: newest?.id ?? '' })).status).toBe(409)
    expect((await signInWith(key)).sent.status).toBe(403)
  })
})

describe('the audit log', () => {
  interface Written {
    readonly event: string
    readonly actor: Record<string, unknown>
    readonly subject: unknown
    readonly detail: Record<string, unknown>
  }
  /** What was refused since `from`, without the numbers of what came again. */
  async function refusals(of: string, from: number): Promise<Written[]> {
    const { body } = await gateway.rest('GET', `/v1/audit/events?of=${of}&after=${from}&limit=500`)
    return body.events.filter(
      ({ event, detail }: Written) => /^(?:sign_in|access)\./.test(event) && detail['repeated'] === undefined,
    )
  }
  const end = async (of: string): Promise<number> => {
    const page = await gateway.rest('GET', `/v1/audit/events?of=${of}&limit=500`)
    return page.body.events.at(-1)?.seq ?? 0
  }

  it('names whose passkey, and which invitation, was refused, on the chain of their account', async () => {
    const invitation = await invite()
    const { key, personId } = await join(invitation)
    expect((await signInWith(key, { counter: 9 })).sent.status).toBe(303)
    skipped += 60_000
    const before = await end('account')
    expect((await signInWith(key, { counter: 9 })).sent.status).toBe(403)
    await browser().ask('/console/join', { _action: 'look', secret_invitation: invitation })
    expect(await refusals('account', before)).toMatchObject([
      {
        event: 'sign_in.failed',
        actor: { kind: 'anonymous', door: 'console', tool: 'console.signIn', address: expect.any(String) },
        subject: { type: 'person', id: personId },
        detail: { code: 'sign_in_failed' },
      },
      {
        event: 'sign_in.failed',
        actor: { kind: 'anonymous', door: 'console', tool: 'console.join' },
        subject: { type: 'invitation' },
        detail: { code: 'invitation_invalid' },
      },
    ])
  })

  it('has guesses that are nobody’s in the chain of the installation, once a minute', async () => {
    skipped += 60_000
    const before = await end('installation')
    for (let i = 0; i < 3; i++) expect((await signInWith(createSoftKey())).sent.status).toBe(403)
    expect(await refusals('installation', before)).toMatchObject([
      { event: 'sign_in.failed', subject: null, detail: { code: 'sign_in_failed' } },
    ])
  })

  it('has what a role does not open, once, whether a page or a tool refuses it', async () => {
    const auditor = await signIn(gateway, { role: 'auditor' })
    const before = await end('account')
    expect((await auditor.get('/console/identity-provider')).status).toBe(403)
    const csrf = await auditor.csrf()
    const sent = await auditor.post('/console/keys', { _csrf: csrf, _action: 'create', label: 'mine' })
    expect(sent.status).toBe(403)
    const events = await refusals('account', before)
    expect(
      events.map(({ event, actor, detail }) => [event, actor['id'], actor['tool'], detail['code']]),
    ).toEqual([
      ['access.denied', auditor.personId, 'console.provider', 'role_required'],
      ['access.denied', auditor.personId, 'gateway.keys.create', 'role_required'],
    ])
  })

  it('has what asks for a fresh sign-in, and was not done', async () => {
    const owner = await signIn(gateway)
    const before = await end('account')
    skipped += FRESH_MS + 1
    const csrf = await owner.csrf()
    await owner.post('/console/me', { _csrf: csrf, _action: 'codes' })
    expect((await refusals('account', before)).map(({ detail }) => detail['code'])).toEqual([
      'fresh_sign_in_required',
    ])
  })
})

describe('a recovery code', () => {
  it('signs in once, however it is typed, and is nowhere in the store', async () => {
    const { joined } = await join(await invite())
    const [code = '', other = ''] = codesIn(joined.text)
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `
    const first = await browser().send('/console/sign-in', { _action: 'code', secret_code: typed })
    expect([first.status, first.location]).toEqual([303, '/console/me?done=recovered'])
    const second = await browser().send('/console/sign-in', { _action: 'code', secret_code: code })
    expect([second.status, second.text.includes(code)]).toEqual([403, false])
    const twice = await Promise.all(
      Array.from({ length: 5 }, () =>
        browser().send('/console/sign-in', { _action: 'code', secret_code: other }),
      ),
    )
    expect(twice.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(gateway.log()).not.toContain(code)
  })

  it('leads to where a passkey is made, and who wants to be elsewhere goes there', async () => {
    const { joined } = await join(await invite())
    const [code = '', other = ''] = codesIn(joined.text)
    const { cookie, location } = await browser().send('/console/sign-in', {
      _action: 'code',
      secret_code: code,
    })
    const shown = await fetch(gateway.baseUrl + (location ?? ''), {
      headers: { accept: 'text/html', cookie: cookie ?? '' },
    })
    expect(await shown.text()).toContain('Add a passkey of this device')
    const wanted = { _action: 'code', secret_code: other, next: '/console/keys' }
    const sent = await browser().send('/console/sign-in', wanted)
    expect(sent.location).toBe('/console/keys')
  })

  it('may be guessed ten times a minute', async () => {
    let last = 0
    for (let tries = 0; tries < 12; tries++)
      last = (await browser().send('/console/sign-in', { _action: 'code', secret_code: `x${tries}` })).status
    expect(last).toBe(429)
  })
})

describe('a session', () => {
  it('is a new one at each sign-in: a token that somebody planted signs nobody in', async () => {
    const { key } = await join(await invite())
    const planted = `${cookieName(gateway.baseUrl, '')}=agw_ss_${'0'.repeat(49)}`
    const { send, ask } = browser(planted)
    const options = await ask('/console/sign-in', { _action: 'ask' })
    const sent = await send('/console/sign-in', {
      _action: 'passkey',
      secret_answer: key.get(options, { origin: origin() }),
    })
    expect(sent.status).toBe(303)
    expect(sent.cookie).not.toBe(planted)
    expect(await gateway.store.findSession(hashToken(planted.split('=')[1] ?? ''))).toBeUndefined()
  })

  it('goes to a path of this console and to nothing that somebody else wrote', async () => {
    const { key } = await join(await invite())
    for (const [next, to] of [
      ['/console/keys?before=x', '/console/keys?before=x'],
      ['//evil.example', '/console'],
      ['/\\evil.example', '/console'],
      ['https://evil.example/console', '/console'],
      ['/console//evil.example', '/console'],
      ['/console/../oauth/authorize', '/console'],
      ['/consolex', '/console'],
    ] as const) {
      const { send, ask } = browser()
      const options = await ask('/console/sign-in', { _action: 'ask' })
      const sent = await send(`/console/sign-in?next=${encodeURIComponent(next)}`, {
        _action: 'passkey',
        next,
        secret_answer: key.get(options, { origin: origin() }),
      })
      expect([next, sent.location]).toEqual([next, to])
    }
  })

  it('that ended keeps what was typed, but for secrets, and sends it after signing in again', async () => {
    const { key, personId } = await join(await invite('owner'))
    const { sent } = await signInWith(key)
    const cookie = sent.cookie ?? ''
    const page = await (
      await fetch(`${gateway.baseUrl}/console/keys`, {
        headers: { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin', 'user-agent': 'a browser' },
      })
    ).text()
    const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? []
    const [session] = await gateway.services.identity.sessions.ofPerson(personId)
    await gateway.services.identity.sessions.end({ sessionId: session?.id ?? '' })

    // The csrf token of whoever is not signed in is another one: the page that keeps the form gives it.
    const { ask, send } = browser()
    const typed = { _action: 'create', label: 'typed before', role: 'auditor', secret_x: 'hush-hush' }
    const kept = await fetch(`${gateway.baseUrl}/console/keys`, {
      method: 'POST',
      headers: {
        cookie,
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
        'user-agent': 'a browser',
      },
      body: new URLSearchParams({ ...typed, _csrf: csrf }),
    })
    const html = await kept.text()
    expect(kept.status).toBe(401)
    expect(html).toContain('What you typed is kept')
    expect(html).not.toContain('hush-hush')
    const [, form = ''] = /name="kept" value="([^"]+)"/.exec(html) ?? []
    const options = await ask('/console/sign-in', { _action: 'ask' })
    const back = await send('/console/sign-in', {
      _action: 'passkey',
      next: '/console/keys',
      kept: form.replaceAll('&amp;', '&'),
      secret_answer: key.get(options, { origin: origin() }),
    })
    expect(back.status).toBe(200)
    const again = Object.fromEntries(
      [...back.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name ?? '',
        value ?? '',
      ]),
    )
    expect(again).toMatchObject({ _action: 'create', label: 'typed before', role: 'auditor' })
    const made = await fetch(`${gateway.baseUrl}/console/keys`, {
      method: 'POST',
      headers: { cookie: back.cookie ?? '', accept: 'text/html', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(again),
    })
    expect(await made.text()).toMatch(/agw_sk_\w{49}/)
  })

  it('that ended gives back no secret of the form of a tool', async () => {
    const typed = {
      _action: 'call',
      '/label': 'typed before',
      '/secret': 'hush-hush 1',
      'name:/parts': 'password',
      'value:/parts': 'hush-hush 2',
      'json:/permit': 'hush-hush 3',
    }
    const { send } = browser()
    const { status, text } = await send('/console/tools/gateway.egress.credentials.create', typed)
    expect(status).toBe(401)
    expect(text).toContain('typed')
    expect(text).not.toContain('hush-hush')
  })

  it('shows browsers in words of ours, whatever they call themselves', async () => {
    const evil = '<script>alert(1)</script>\u202e Firefox (Windows)'.slice(0, 25) + ' Firefox Windows'
    const { key } = await join(await invite('owner'))
    const { ask, send } = browser('', evil)
    const options = await ask('/console/sign-in', { _action: 'ask' })
    const sent = await send('/console/sign-in', {
      _action: 'passkey',
      secret_answer: key.get(options, { origin: origin() }),
    })
    const page = await fetch(`${gateway.baseUrl}/console/people`, {
      headers: { cookie: sent.cookie ?? '', accept: 'text/html', 'sec-fetch-site': 'same-origin' },
    })
    const html = await page.text()
    expect(html).toContain('Firefox, Windows')
    expect(html).not.toContain('alert(1)')
  })

  it('is seen and ended by its person and by owners, and by nobody of another account', async () => {
    const [owner, member] = [await signIn(gateway), await signIn(gateway, { role: 'operator' })]
    const key = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'else' })).body.key
    const foreign = await gateway.rest('POST', `/v1/sessions/${member.sessionId}/end`, undefined, key)
    expect([foreign.status, foreign.body.code]).toEqual([404, 'session_not_found'])
    const notTheirs = await member.post('/console/me', { _action: 'end', session: owner.sessionId })
    expect(notTheirs.status).toBe(404)
    const listed = await member.data<{ sessions: { person_id: string }[] }>('/console/people')
    expect(new Set(listed.sessions.map(({ person_id: id }) => id))).toEqual(new Set([member.personId]))
    expect((await owner.post('/console/people', { _action: 'end', session: member.sessionId })).status).toBe(
      303,
    )
    expect((await member.get('/console/people')).status).toBe(303)
  })
})

describe('a role', () => {
  const roleOf = (person: TestPerson) => ({ _action: 'role', person: person.personId, role: 'auditor' })

  it('changes with the next call', async () => {
    const [owner, member] = [await signIn(gateway), await signIn(gateway, { role: 'operator' })]
    expect((await member.get('/console/credentials/new')).status).toBe(200)
    expect((await owner.post('/console/people', roleOf(member))).status).toBe(303)
    expect((await member.get('/console/credentials/new')).status).toBe(403)
    expect((await owner.post('/console/people', { _action: 'remove', person: member.personId })).status).toBe(
      303,
    )
    expect((await member.get('/console/people')).status).toBe(303)
  })

  it('of others is changed by owners alone, and by those who have just shown that it is them', async () => {
    const [owner, operator] = [await signIn(gateway), await signIn(gateway, { role: 'operator' })]
    const refused = await operator.post('/console/people', {
      ...roleOf(owner),
      person: operator.personId,
      role: 'owner',
    })
    expect(refused.status).toBe(403)
    const invited = await operator.post('/console/people', { _action: 'invite', role: 'owner' })
    expect(invited.status).toBe(403)
    const key = (await gateway.rest('POST', '/v1/keys', { label: 'program' })).body.key
    const byKey = await gateway.rest('POST', '/v1/people/invitations', { role: 'owner' }, key)
    expect([byKey.status, byKey.body.code]).toEqual([403, 'role_required'])
    const ownerKey = await gateway.rest('POST', '/v1/keys', { role: 'owner' }, key)
    expect([ownerKey.status, ownerKey.body.code]).toEqual([403, 'role_required'])

    skipped += FRESH_MS + 1
    const stale = await owner.post('/console/people', roleOf(operator))
    const html = await stale.text()
    expect(stale.status).toBe(403)
    expect(html).toContain('data-again="/console/sign-in"')
    expect(html).toContain(`value="${operator.personId}"`)
    await gateway.services.identity.sessions.freshen(owner.sessionId)
    expect((await owner.post('/console/people', roleOf(operator))).status).toBe(303)
  })

  it('of an owner stays with the last one, however many demote each other at once', async () => {
    const { account_id: accountId } = (
      await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'duel' })
    ).body
    const owners = await Promise.all(Array.from({ length: 6 }, () => signIn(gateway, { accountId })))
    const { people } = gateway.services.identity
    const results = await Promise.allSettled(
      owners.map(({ personId }, at) =>
        at % 2 === 0
          ? people.setRole({ accountId, personId, role: 'auditor' })
          : people.remove({ accountId, personId }),
      ),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    const { items } = await people.list(accountId, { limit: 10 })
    expect(items.filter(({ role }) => role === 'owner')).toHaveLength(1)
  })

  it('of a person is nobody else’s to read: people of another account are not found', async () => {
    const member = await signIn(gateway, { role: 'operator' })
    const key = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'third' })).body.key
    for (const [path, body] of [
      [`/v1/people/${member.personId}/role`, { role: 'owner' }],
      [`/v1/people/${member.personId}/remove`, undefined],
      ['/v1/people/invitations', { person_id: member.personId }],
    ] as const) {
      const answer = await gateway.rest('POST', path, body, key)
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'person_not_found'])
    }
    expect((await gateway.rest('GET', '/v1/people', undefined, key)).body.people).toEqual([])
  })
})

describe('the store and the log', () => {
  it('hold no token, no code and no link as text', async () => {
    const invitation = await invite('owner')
    const { joined } = await join(invitation)
    const [code = ''] = codesIn(joined.text)
    const secrets = [invitation, code, joined.cookie?.split('=')[1] ?? '']
    const { readFile, readdir } = await import('node:fs/promises')
    const folder = `${gateway.dataDir}/data`
    for (const name of await readdir(folder)) {
      if (!name.startsWith('gateway.db')) continue
      const bytes = await readFile(`${folder}/${name}`)
      for (const secret of secrets) expect(bytes.includes(secret), `${name} ${secret}`).toBe(false)
    }
    for (const secret of secrets) expect(gateway.log().includes(secret)).toBe(false)
  })
})
