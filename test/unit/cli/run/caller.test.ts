import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOfProcess } from '../../../../src/cli/run/caller.ts'

const isLinux = process.platform === 'linux'

describe('whose connection it is', () => {
  let server: Server
  let own: number
  const children: ChildProcess[] = []
  const sockets: Socket[] = []
  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    own = (server.address() as { port: number }).port
  })
  afterAll(() => {
    for (const child of children) child.kill()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  /** @returns the port of the other end */
  async function connectFrom(start: () => ChildProcess | Socket): Promise<number> {
    const accepted = once(server, 'connection')
    const started = start()
    if (started instanceof Socket) sockets.push(started)
    else children.push(started)
    const [socket] = (await accepted) as [Socket]
    sockets.push(socket.on('error', () => {}))
    return socket.remotePort!
  }
  const program = "require('node:net').connect(PORT, '127.0.0.1').on('error', () => {})"
  const child = () => spawn(process.execPath, ['-e', program.replace('PORT', String(own))])
  const grandchild = () =>
    spawn('sh', ['-c', `"$0" -e "$1"; true`, process.execPath, program.replace('PORT', String(own))])

  it.each([
    ['a child', child],
    ['a child of a child', grandchild],
  ])('is known for %s of the process, and not taken for that of another', async (_, start) => {
    const port = await connectFrom(start)
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    children.push(stranger)
    expect(await isOfProcess(port, own, process.pid)).toBe(isLinux)
    expect(await isOfProcess(port, own, stranger.pid!)).toBe(false)
    // The other way round it is the server's end, which is not what is asked for.
    expect(await isOfProcess(own, port, stranger.pid!)).toBe(false)
  })

  it('is not known where there is no such connection', async () => {
    const port = await connectFrom(() => connect(own, '127.0.0.1'))
    expect(await isOfProcess(port, own, process.pid)).toBe(isLinux)
    expect(await isOfProcess(port, own - 1, process.pid)).toBe(false)
    expect(await isOfProcess(1, own, process.pid)).toBe(false)
  })
})
