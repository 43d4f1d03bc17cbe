// Keeps twenty requests in flight. What each is, comes from its parent, and is in the place of what it was before; `stop` ends it.
// It tells the parent of every answer.
import { setPriority } from 'node:os'
import { Agent, request } from 'undici'

interface Flood {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

// It stands for another machine: whoever wants a core here goes first.
setPriority(15)

let dispatcher: Agent | undefined

async function flood({ url, headers, body }: Flood, over: Agent): Promise<void> {
  while (!over.destroyed) {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: over })
    for await (const _ of answer.body);
    if (!over.destroyed) process.send?.(answer.statusCode)
  }
}

process.on('disconnect', () => process.exit(0))
process.on('message', (shot: Flood | 'stop') => {
  void dispatcher?.destroy()
  dispatcher = undefined
  if (shot === 'stop') return
  const over = new Agent({ connections: 20, pipelining: 1, headersTimeout: 120_000 })
  dispatcher = over
  for (let i = 0; i < 20; i++)
    flood(shot, over).catch((error: unknown) => {
      // What was in flight when it ended fails.
      if (!over.destroyed) throw error
    })
})
