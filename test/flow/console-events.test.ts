// News of the console as its pages hear them: who may, for how long, and what is in them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { cookieName } from '../../src/doors/console/cookie.ts'
import { STREAMS_PER_PERSON, STREAMS_PER_SESSION } from '../../src/doors/console/events.ts'

let gateway: TestGateway
let owner: TestPerson
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
})
afterAll(() => gateway?.close())

type News = readonly [topic: string, data: Record<string, unknown>]

/** Opens a stream and reads it until something is found in it, or it ends. */
async function open(person: TestPerson, query = '', headers: Record<string, string> = {}) {
  const answer = await person.get(`/console/events${query}`, { accept: 'text/event-stream', ...headers })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    answer,
    text: () => text,
    news: () =>
      [...text.matchAll(/^event: news\ndata: (.*)$/gm)].flatMap(
        ([, data]) => JSON.parse(data ?? '[]') as News[],
      ),
    async until(isThere: (text: string) => boolean) {
      while (!isThere(text)) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) return false
        text += value
      }
      return true
    },
    close: () => reader?.cancel(),
  }
}

const decisionOf = (tool: string) => (text: string) => text.includes(`"tool":"${tool}"`)

describe('news of the console', () => {
  it('say of each call who asked which tool for which host and how it ended, and nothing of what was sent', async () => {
    const { capability, capabilityId } = await gateway.grant({ secret: 'planted-secret-in-the-credential' })
    const stream = await open(owner, '?topics=decision')
    expect(stream.answer.headers.get('content-type')).toBe('text/event-stream')
    await gateway.fetch(capability, {
      url: gateway.url('/echo?planted=in-the-query'),
      method: 'GET',
      headers: { accept: 'planted/header' },
    })
    await gateway.rest('GET', '/v1/receipts/rcp_planted_in_the_path')
    await stream.until(decisionOf('gateway.egress.fetch'))
    await stream.until(decisionOf('gateway.receipts.get'))
    const [fetched] = stream.news().filter(([, { tool }]) => tool === 'gateway.egress.fetch')
    expect(fetched).toEqual([
      'decision',
      {
        at: expect.any(Number),
        request: expect.stringMatching(/^req_/),
        door: 'rest',
        tool: 'gateway.egress.fetch',
        by: 'capability',
        caller: capabilityId,
        host: 'api.example.com',
        code: 'ok',
        ms: expect.any(Number),
        attempt: expect.stringMatching(/^att_/),
      },
    ])
    expect(stream.text()).not.toMatch(/planted|agw_/)
    await stream.close()
  })

  it('say of a permit that it waits for people, and what they decided, as it happens', async () => {
    const actions = await createActionsClient(gateway, gateway.url)
    const stream = await open(owner, '?topics=approval')
    const { permit_id } = await actions.prepare(
      actions.request(),
      actions.mandate({ requires_approval: true }),
    )
    expect(await stream.until((text) => text.includes('pending_approval'))).toBe(true)
    await gateway.rest('POST', `/v1/actions/permits/${permit_id}/approve`)
    expect(await stream.until((text) => text.includes('"ready"'))).toBe(true)
    expect(stream.news()).toEqual(
      ['pending_approval', 'ready'].map((state) => [
        'approval',
        { permit_id, state, method: 'POST', host: 'api.example.com' },
      ]),
    )
    await stream.close()
  })

  it('are for a page of this console, of somebody who is signed in and may read', async () => {
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await open(owner, '', { 'sec-fetch-site': site })).answer.status).toBe(403)
    expect((await open(owner, '', { cookie: '' })).answer.status).toBe(401)
    const seller = await signIn(gateway, { role: 'seller' })
    expect((await open(seller)).answer.status).toBe(403)
    expect((await open(owner, '?topics=decision,secrets')).answer.status).toBe(400)
  })

  it('of another account never arrive', async () => {
    const { keyId, accountId } = await otherAccount()
    const stranger = await signIn(gateway, { accountId, admin: false })
    const [own, foreign] = [await open(owner), await open(stranger)]
    await gateway.rest('GET', '/v1/keys', undefined, keyId)
    await gateway.rest('GET', '/v1/keys', undefined, gateway.operatorKey)
    await Promise.all([
      own.until(decisionOf('gateway.keys.list')),
      foreign.until(decisionOf('gateway.keys.list')),
    ])
    const [mine, theirs] = [own, foreign].map((stream) => stream.news().map(([, { caller }]) => caller))
    expect(mine).toHaveLength(1)
    expect(theirs).toHaveLength(1)
    expect(mine).not.toEqual(theirs)
    await Promise.all([own.close(), foreign.close()])
  })

  it('go on where they were heard last', async () => {
    const person = await signIn(gateway)
    const first = await open(person)
    await first.until((text) => text.includes('event: begin'))
    const [, id = ''] = /^id: (.+)$/m.exec(first.text()) ?? []
    await first.close()
    await gateway.rest('GET', '/v1/receipts/rcp_x')
    const again = await open(person, '', { 'last-event-id': id })
    expect(await again.until(decisionOf('gateway.receipts.get'))).toBe(true)
    await again.close()
  })

  it('are for so many pages of one session at once', async () => {
    const person = await signIn(gateway)
    const streams = await Promise.all(Array.from({ length: STREAMS_PER_SESSION }, () => open(person)))
    const more = await open(person)
    expect([more.answer.status, more.answer.headers.get('retry-after')]).toEqual([429, '30'])
    await Promise.all(streams.map((stream) => stream.close()))
  })

  it('are for so many pages of one person, however often they sign in', async () => {
    const { personId, accountId } = await signIn(gateway)
    const streams: Awaited<ReturnType<typeof open>>[] = []
    const openInSessions = async (sessions: number) => {
      for (let i = 0; i < sessions; i++) {
        const { token } = await gateway.services.identity.sessions.open({
          personId,
          accountId,
          method: 'passkey',
          from: { address: '127.0.0.1', userAgent: 'test' },
        })
        const cookie = `${cookieName(gateway.baseUrl, '')}=${token.use((text) => text)}`
        for (let j = 0; j < STREAMS_PER_SESSION; j++) streams.push(await open(owner, '', { cookie }))
      }
    }
    await openInSessions(STREAMS_PER_PERSON / STREAMS_PER_SESSION + 1)
    const statuses = streams.map(({ answer }) => answer.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(STREAMS_PER_PERSON)
    expect(statuses.slice(STREAMS_PER_PERSON)).toEqual(Array(STREAMS_PER_SESSION).fill(429))
    const neighbour = await open(owner)
    expect(neighbour.answer.status).toBe(200)
    await Promise.all([...streams, neighbour].map((stream) => stream.close()))
  })

  it('end within seconds where the session ended or the role changed', async () => {
    const [left, changed] = [await signIn(gateway), await signIn(gateway)]
    const [gone, other] = [await open(left), await open(changed)]
    const find = gateway.services.identity.sessions.find
    const sessions = gateway.services.identity.sessions as { find: typeof find }
    sessions.find = async (token) => {
      const found = await find(token)
      if (found?.sessionId === left.sessionId) return undefined
      return found?.sessionId === changed.sessionId ? { ...found, role: 'auditor' } : found
    }
    try {
      await Promise.all([gone.until(() => false), other.until(() => false)])
    } finally {
      sessions.find = find
    }
    expect(gone.text()).toContain('event: end\ndata: {"why":"signed_out"}')
    expect(other.text()).toContain('event: end\ndata: {"why":"changed"}')
  })
})

async function otherAccount(): Promise<{ keyId: string; accountId: string }> {
  const made = await gateway.rest(
    'POST',
    '/v1/keys',
    { label: 'other', account: 'new', name: 'other' },
    gateway.operatorKey,
  )
  return { keyId: made.body.key as string, accountId: made.body.account_id as string }
}
