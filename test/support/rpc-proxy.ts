// A JSON-RPC endpoint in front of a test chain that can be down, silent or wrong.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RpcProxy {
  readonly url: string
  mode: 'ok' | 'down' | 'silent' | 'garbage' | 'lying'
  close(): Promise<void>
}

/** @param target JSON-RPC endpoint of the chain */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const held = new Set<ServerResponse>()
  const server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      switch (proxy.mode) {
        case 'down':
          return void res.destroy()
        case 'silent':
          return void held.add(res)
        case 'garbage':
          return void res.end('<html>bad gateway</html>')
        case 'ok':
        case 'lying': {
          const answer = await fetch(target, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: Buffer.concat(chunks),
          })
          const text = await answer.text()
          // Another chain: its id, and nothing of what happened on ours.
          const lie = text
            .replaceAll('"0x14a34"', '"0x1"')
            .replaceAll(/"result":\[.*?\](?=[,}])/g, '"result":[]')
          return void res
            .writeHead(answer.status, { 'content-type': 'application/json' })
            .end(proxy.mode === 'lying' ? lie : text)
        }
      }
    })().catch(() => res.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'ok',
    async close() {
      for (const res of held) res.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
