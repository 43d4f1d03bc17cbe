// Sends one request again and again over many connections, as fast as it is answered. It stands for other machines: whoever wants a
// core here goes first.
import { setPriority } from 'node:os'
import { Client } from 'undici'

export interface BodyStorm {
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly connections: number
  readonly requests: number
  /** It ends then at the latest. */
  readonly seconds: number
}

export interface BodyStormEnd {
  /** Answers by status; 0 is a connection that broke. */
  readonly answers: Record<number, number>
  readonly seconds: number
}

setPriority(15)

async function storm(shot: BodyStorm): Promise<BodyStormEnd> {
  const body = Buffer.from(shot.body)
  const answers: Record<number, number> = {}
  const started = performance.now()
  const until = started + shot.seconds * 1000
  let left = shot.requests
  async function connection(): Promise<void> {
    const client = new Client(shot.origin, { pipelining: 1 })
    while (left-- > 0 && performance.now() < until) {
      let status = 0
      try {
        const answer = await client.request({
          path: shot.path,
          method: 'POST',
          headers: { 'content-type': 'application/json', ...shot.headers },
          body,
        })
        status = answer.statusCode
        await answer.body.dump()
      } catch {
        // A refusal may close the connection while the body is still on its way.
      }
      answers[status] = (answers[status] ?? 0) + 1
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: shot.connections }, connection))
  return { answers, seconds: (performance.now() - started) / 1000 }
}

process.on('disconnect', () => process.exit(0))
process.on('message', (shot: BodyStorm) => void storm(shot).then((end) => process.send?.(end)))
