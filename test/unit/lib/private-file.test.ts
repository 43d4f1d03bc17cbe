import { describe, expect, it } from 'vitest'
import { isPrivateFile } from '../../../src/lib/private-file.ts'

const ROOT = 0
const OWN = 65532

describe('a key file', () => {
  it.each<[string, number, number, number, boolean, number?]>([
    ['0600 of this user', 0o100600, OWN, OWN, true],
    ['0400 of this user', 0o100400, OWN, OWN, true],
    ['0640 of this user', 0o100640, OWN, OWN, false],
    ['0604 of this user', 0o100604, OWN, OWN, false],
    ['0440 of root, as systemd and Kubernetes hand it over', 0o100440, ROOT, OWN, true],
    ['0640 of root', 0o100640, ROOT, OWN, true],
    ['0460 of root, which the group may write', 0o100460, ROOT, OWN, false],
    ['0450 of root', 0o100450, ROOT, OWN, false],
    ['0444 of root, which everybody may read', 0o100444, ROOT, OWN, false],
    ['0440 of root, for root itself', 0o100440, ROOT, ROOT, false],
    [
      '0440 of root and a group of its own, for root that looks at what the gateway reads',
      0o100440,
      ROOT,
      ROOT,
      true,
      OWN,
    ],
    ['0444 of root and a group of its own, for root', 0o100444, ROOT, ROOT, false, OWN],
    ['0600 of root, for root itself', 0o100600, ROOT, ROOT, true],
    ['0440 of another user', 0o100440, 1000, OWN, false],
  ])('%s', (_, mode, uid, user, isPrivate, gid = uid) => {
    expect(isPrivateFile({ mode, uid, gid }, user)).toBe(isPrivate)
  })
})
