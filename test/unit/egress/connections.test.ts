import { EventEmitter } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { expect, it } from 'vitest'
import { createConnections } from '../../../src/egress/adapters/connections.ts'

const ADDRESS = '192.0.2.1'

class FakeSocket extends EventEmitter {
  destroyed = false
  writable = true
  readable = true
  remoteAddress = ADDRESS
  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

function world() {
  const connections = createConnections()
  const open = (key: string) => {
    const socket = new FakeSocket()
    const connection = connections.create(key, 'https://api.example.com', socket as unknown as TLSSocket)
    return { socket, connection }
  }
  return { connections, open }
}

it('hands out the one that was used last, to its own key and to one owner at a time', () => {
  const { connections, open } = world()
  const [first, second] = [open('a').connection, open('a').connection]
  connections.keep(first)
  connections.keep(second)
  expect(connections.take('b', [ADDRESS])).toBeUndefined()
  expect(connections.take('a', [ADDRESS])).toBe(second)
  expect(connections.take('a', [ADDRESS])).toBe(first)
  expect(connections.take('a', [ADDRESS])).toBeUndefined()
})

it('closes one whose peer is not vetted any more, and one that the other side closed', () => {
  const { connections, open } = world()
  const [moved, closed] = [open('a'), open('a')]
  for (const { connection } of [moved, closed]) connections.keep(connection)
  closed.socket.destroy()
  expect(connections.take('a', ['198.51.100.1'])).toBeUndefined()
  expect(moved.socket.destroyed).toBe(true)
})

it('keeps sixty-four of a key, and lets go of the one that waited longest', () => {
  const { connections, open } = world()
  const all = Array.from({ length: 65 }, () => open('a'))
  for (const { connection } of all) connections.keep(connection)
  expect(all.map(({ socket }) => socket.destroyed)).toEqual([true, ...Array<boolean>(64).fill(false)])
})

it('counts those that wait, not how often they did: 256 wait at once, however long they are in use', () => {
  const { connections, open } = world()
  const all = Array.from({ length: 256 }, (_, i) => ({ key: `k${i}`, ...open(`k${i}`) }))
  for (let round = 0; round < 3; round++) {
    for (const { connection } of all) connections.keep(connection)
    for (const { key, connection } of all) expect(connections.take(key, [ADDRESS])).toBe(connection)
  }
  for (const { connection } of all) connections.keep(connection)
  connections.keep(open('one more').connection)
  expect(all.filter(({ socket }) => socket.destroyed).map(({ key }) => key)).toEqual(['k0'])
})

it('takes room from the key that has most of it', () => {
  const { connections, open } = world()
  const keepMany = (key: string, count: number) =>
    Array.from({ length: count }, () => {
      const { socket, connection } = open(key)
      connections.keep(connection)
      return socket
    })
  const alone = keepMany('alone', 1)
  const busy = ['a', 'b', 'c'].map((key) => keepMany(key, 64))
  const more = keepMany('d', 63)
  const late = keepMany('late', 1)
  expect([...alone, ...more, ...late].filter(({ destroyed }) => destroyed)).toEqual([])
  expect(busy.map((sockets) => sockets.filter(({ destroyed }) => destroyed).length)).toEqual([1, 0, 0])
})

it('keeps nothing that was discarded meanwhile', () => {
  const { connections, open } = world()
  const { connection } = open('a')
  connections.discard(connection)
  connections.keep(connection)
  expect(connections.take('a', [ADDRESS])).toBeUndefined()
})
