// Keeps twenty requests in flight until it is killed. What each is, comes from its parent; it tells the parent of every answer.
import { setPriority } from 'node:os'
import { Agent, request } from 'undici'

// It stands for another machine: whoever wants a core here goes first.
setPriority(15)

process.on('disconnect', () => process.exit(0))
process.once('message', async (message) => {
  const { url, headers, body } = message as { url: string; headers: Record<string, string>; body: string }
  const dispatcher = new Agent({ connections: 20, pipelining: 1, headersTimeout: 120_000 })
  const loop = async () => {
    for (;;) {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher })
      for await (const _ of answer.body);
      process.send?.(answer.statusCode)
    }
  }
  await Promise.all(Array.from({ length: 20 }, loop))
})
