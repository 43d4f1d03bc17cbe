import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inodeIn, isOfProcess } from '../../../../src/cli/run/caller.ts'

const at = (port: number, address = '127.0.0.1') => ({ address, port })
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
    expect(await isOfProcess(at(port), own, process.pid)).toBe(isLinux)
    expect(await isOfProcess(at(port), own, stranger.pid!)).toBe(false)
    // The other way round it is the server's end, which is not what is asked for.
    expect(await isOfProcess(at(own), port, stranger.pid!)).toBe(false)
  })

  it('is not known where there is no such connection', async () => {
    const port = await connectFrom(() => connect(own, '127.0.0.1'))
    expect(await isOfProcess(at(port), own, process.pid)).toBe(isLinux)
    expect(await isOfProcess(at(port), own - 1, process.pid)).toBe(false)
    expect(await isOfProcess(at(1), own, process.pid)).toBe(false)
  })
  it('is not known of one from another address of the machine with the same port', async () => {
    const port = await connectFrom(() => connect(own, '127.0.0.1'))
    const accepted = once(server, 'connection')
    sockets.push(connect({ host: '127.0.0.1', port: own, localAddress: '127.0.0.2', localPort: port }))
    const [stranger] = (await accepted) as [Socket]
    sockets.push(stranger.on('error', () => {}))
    expect([stranger.remoteAddress, stranger.remotePort]).toEqual(['127.0.0.2', port])
    expect(await isOfProcess(at(port, stranger.remoteAddress), own, process.pid)).toBe(false)
  })
})

describe('the socket of a connection in the table of the kernel', () => {
  const line = (local: string, remote: string, uid: number, inode: number, state = '01') =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1`
  const table = (...lines: string[]) => ['  sl  local_address rem_address   st', ...lines].join('\n')
  // 8080 and 443.
  const [port, own] = ['1F90', '01BB']
  const ends = { port: 8080, own: 443, uid: 1000 }
  const v4 = '0100007F'
  const v6 = '0000000000000000FFFF0000'

  it.each([
    ['between addresses of IPv4', line(`${v4}:${port}`, `${v4}:${own}`, 1000, 7)],
    ['between mapped addresses of IPv6', line(`${v6}${v4}:${port}`, `${v6}${v4}:${own}`, 1000, 7)],
  ])('is found %s', (_, found) => {
    expect(inodeIn(table(line(`${v4}:0001`, `${v4}:${own}`, 1000, 6), found), ends)).toBe('7')
  })

  it.each([
    ['from another address', line(`0200007F:${port}`, `${v4}:${own}`, 1000, 7)],
    ['to another address', line(`${v4}:${port}`, `0200007F:${own}`, 1000, 7)],
    [
      'from an address of IPv6 that ends alike',
      line(`B80D01200000000000000000${v4}:${port}`, `${v6}${v4}:${own}`, 1000, 7),
    ],
    ['that is closed', line(`${v4}:${port}`, `${v4}:${own}`, 1000, 7, '06')],
    ['of another user', line(`${v4}:${port}`, `${v4}:${own}`, 1001, 7)],
  ])('is not one %s', (_, other) => {
    expect(inodeIn(table(other), ends)).toBeUndefined()
  })

  it('may be of any user where the run is that of root', () => {
    expect(inodeIn(table(line(`${v4}:${port}`, `${v4}:${own}`, 1001, 7)), { ...ends, uid: 0 })).toBe('7')
  })
})
