// What the four mocks share: one listener on loopback, JSON in, JSON or server-sent events out, and a record of what was refused.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject } from '../../../src/lib/json.ts'
import { replyTo, type Reply, type Script, type Turn } from './script.ts'

export type Json = Readonly<Record<string, unknown>>

/** What an API answers to a request that breaks one of its published rules. */
export class Refusal extends Error {
  readonly status: number
  readonly body: Json

  /** @param body as the real API writes it */
  constructor(status: number, body: Json) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

export interface ModelRequest {
  readonly headers: IncomingMessage['headers']
  readonly url: URL
  readonly body: Json
}

/** Server-sent events: a name where the API has names, and the data as JSON or as it is. */
export type Events = readonly { readonly event?: string; readonly data: unknown }[]

/** One model API: which requests are its own, what it refuses, and how its answers look. */
export interface ModelApi {
  matches(path: string): boolean
  /** @throws Refusal when the request breaks a rule */
  read(request: ModelRequest): Turn
  wantsEvents(request: ModelRequest): boolean
  answer(reply: Reply, request: ModelRequest): Json
  events(reply: Reply, request: ModelRequest): Events
}

export interface ModelServer {
  readonly url: string
  /** What was refused, as it was answered; a run without refusals is what every test asks for. */
  readonly refusals: readonly string[]
  /** The turns that were taken, oldest first. */
  readonly turns: readonly Turn[]
  /** Starts another conversation: forgets what was recorded and plays this. */
  play(script: Script): void
  close(): Promise<void>
}

const MAX_BODY = 32 * 1024 * 1024

export async function startModelServer(apis: readonly ModelApi[]): Promise<ModelServer> {
  let script: Script = []
  let refusals: string[] = []
  let turns: Turn[] = []

  const server = createServer((req, res) => {
    void (async () => {
      const url = new URL(req.url ?? '/', 'http://model.invalid')
      const send = (status: number, body: unknown) => {
        if (status !== 200) refusals.push(`${status} ${url.pathname} ${JSON.stringify(body)}`)
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      const api = apis.find(({ matches }) => matches(url.pathname))
      if (api === undefined) return send(404, { error: { message: `There is no ${url.pathname} here.` } })
      try {
        const body: unknown = JSON.parse(await read(req))
        if (!isObject(body)) return send(400, { error: { message: 'The body is not an object.' } })
        const request = { headers: req.headers, url, body }
        const turn = api.read(request)
        turns.push(turn)
        const reply = replyTo(turn, script)
        if (!api.wantsEvents(request)) return send(200, api.answer(reply, request))
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const { event, data } of api.events(reply, request))
          res.write(
            `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
          )
        res.end()
      } catch (error) {
        if (error instanceof Refusal) return send(error.status, error.body)
        // A script that cannot go on. No client tries a 422 again.
        send(422, { error: { message: String(error), type: 'script' } })
      }
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refusals() {
      return refusals
    },
    get turns() {
      return turns
    },
    play(given) {
      script = given
      refusals = []
      turns = []
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function read(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) throw new Refusal(413, { error: { message: 'Request too large' } })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The members of a list that are objects; a rule of its own refuses a list that has others. */
export const objectsIn = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isObject) : []

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Text of a content that is a string or a list of parts with a `text`. */
export const contentText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : objectsIn(value)
        .map(({ text }) => textOf(text))
        .join('\n')
