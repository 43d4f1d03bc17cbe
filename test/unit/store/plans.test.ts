// No command walks through a table that only grows: a store of a million rows answers as an empty one does.
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import type { Command, Row } from '../../../src/store/command.ts'
import { commands } from '../../../src/store/commands/index.ts'
import { sqliteDialect } from '../../../src/store/dialects.ts'
import { migrate } from '../../../src/store/migrations.ts'
import { mergeAttempts } from '../../../src/store/sqlite/write-behind.ts'
import { sqliteCommands } from '../../../src/store/sqlite/fused.ts'
import { toSqlite } from '../../../src/store/sqlite/database.ts'
import type { Mandate, PermitState } from '../../../src/store/ports.ts'
import type { AttemptState } from '../../../src/store/model.ts'
import { newPermit } from '../../support/store-actions.ts'
import { newClaim, NOW, receiptFor, settling, submission } from '../../support/store.ts'

const db = new DatabaseSync(':memory:')
const steps = migrate(sqliteDialect, NOW)
for (let step = steps.next(); !step.done;) {
  const { text, values, once } = step.value
  if (once) db.exec(text)
  step = steps.next(once ? [] : db.prepare(toSqlite(text).text).all(...values))
}
afterAll(() => db.close())

/** How SQLite would run the statements of a command that is answered with `answers` in turn, then with nothing. */
function plansOf(command: Command<unknown>, answers: readonly (readonly Row[])[] = []): string[] {
  const plans: string[] = []
  let step = command.next()
  for (let i = 0; !step.done; i++) {
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${toSqlite(step.value.text).text}`).all()
    plans.push(...rows.map((row) => String(row['detail'])))
    step = command.next(answers[i] ?? [])
  }
  return plans
}

const pages = () => Number(db.prepare('PRAGMA page_count').get()!['page_count'])
const LONG = 'x'.repeat(1300)
it.each<readonly [string, string]>([
  ['receipts', 'INSERT INTO receipts (id, account_id, jws, created_at) VALUES ($id, $id, $text, 1)'],
  ['quotes', 'INSERT INTO quotes (id, jws, created_at, expires_at) VALUES ($id, $text, 1, 1)'],
  [
    'tasks',
    `INSERT INTO tasks (id, context_id, owner, state, revision, json, updated_at, expires_at)
     VALUES ($id, $id, $id, 'working', 1, $text, 1, 1)`,
  ],
])('%s share pages: a text of 1,300 characters takes none of its own', (_table, text) => {
  const before = pages()
  const insert = db.prepare(text)
  for (let i = 0; i < 300; i++) insert.run({ id: `id-${String(i).padStart(6, '0')}`, text: LONG })
  expect(pages() - before).toBeLessThan(200)
})

const claim = newClaim({ identifier: 'identifier-0001' })
const boot = { bootId: 'boot-1', now: NOW }
const take = {
  allowances: [{ holder: 'h', allowance: 1 }] as const,
  month: '2026-06',
  accountId: 'acct_a',
  claimId: claim.id,
  transactionId: 'txn_1',
  now: NOW,
}
const found = [{ id: claim.id, bootId: 'boot-0', amount: '1', settled: '0' }]

const permit = newPermit({
  accountId: 'acct_a',
  credentialId: 'cred_a',
  mandate: { id: 'mdt_a', requiresApproval: true } as Mandate,
})
const credential = [{ version: 1, revokedAt: null }]
const mandate = [
  {
    id: 'mdt_a',
    methods: '[]',
    approval: null,
    expiresAt: NOW + 1,
    revokedAt: null,
    maxCalls: 9,
    calls: 0,
    maxCredits: null,
  },
]
const preparing = () =>
  plansOf(commands.preparePermit({ permit, needsBalance: 1, maxPending: 3, now: NOW }), [credential, mandate])

const walks: readonly (readonly [string, () => string[]])[] = [
  [
    'claimPayment',
    () => plansOf(commands.claimPayment({ claim, bootId: 'boot-1' }), [[], [], [], [], found]),
  ],
  ['findStanding', () => plansOf(commands.findStanding(claim))],
  ['getClaim', () => plansOf(commands.getClaim(claim.id))],
  ['findClaim', () => plansOf(commands.findClaim(claim))],
  ['findIdentifiedClaim', () => plansOf(commands.findIdentifiedClaim({ ...claim, identifier: 'i' }))],
  ['submitClaim', () => plansOf(commands.submitClaim(submission(claim.id, 'boot-1')), [found])],
  ['settleClaim', () => plansOf(commands.settleClaim(settling(claim.id)), [found])],
  [
    'settleClaim, by a word alone',
    () => plansOf(commands.settleClaim({ ...settling(claim.id), isTrusted: true }), [found, found]),
  ],
  [
    'moveClaim',
    () =>
      plansOf(commands.moveClaim({ id: claim.id, to: 'failed', reason: null, transaction: null, now: NOW }), [
        found,
      ]),
  ],
  ['cancelClaim', () => plansOf(commands.cancelClaim({ ...boot, id: claim.id, reason: 'x' }))],
  ['recoverClaims', () => plansOf(commands.recoverClaims(boot), [found])],
  ['takeDoubtfulClaims', () => plansOf(commands.takeDoubtfulClaims({ limit: 9, now: NOW }), [found])],
  ['takeWatchedClaims', () => plansOf(commands.takeWatchedClaims({ limit: 9, now: NOW }), [found])],
  ['endWatch', () => plansOf(commands.endWatch(claim.id, NOW), [found])],
  [
    'listSettledBlocks',
    () => plansOf(commands.listSettledBlocks({ network: claim.network, since: NOW, limit: 9 })),
  ],
  ['newestSettlement', () => plansOf(commands.newestSettlement(NOW))],
  [
    'listClaimsOfBlock',
    () => plansOf(commands.listClaimsOfBlock({ network: claim.network, since: NOW, hash: '0xb' })),
  ],
  ['reopenClaim', () => plansOf(commands.reopenClaim({ id: claim.id, receiptId: 'r', now: NOW }), [found])],
  [
    'resettleClaim',
    () =>
      plansOf(
        commands.resettleClaim({
          id: claim.id,
          receiptId: 'r',
          receipt: null,
          transaction: '0xt',
          block: undefined,
          now: NOW,
        }),
        [found],
      ),
  ],
  [
    'reverseClaim',
    () =>
      plansOf(commands.reverseClaim({ id: claim.id, reason: 'x', now: NOW }), [
        found,
        [],
        [{ account: 'acct_a', amount: 5 }],
        [{ balance: 3 }],
      ]),
  ],
  ['findSale', () => plansOf(commands.findSale(claim.id))],
  [
    'marketBalanceBefore',
    () => plansOf(commands.marketBalanceBefore({ account: 'seller:a', network: claim.network, before: NOW })),
  ],
  ['listMarketBalances', () => plansOf(commands.listMarketBalances({ prefix: 'seller:', limit: 9 }))],
  ['marketBalancesOf', () => plansOf(commands.marketBalancesOf('seller:a'))],
  [
    'listMarketEntries',
    () =>
      plansOf(
        commands.listMarketEntries({
          account: 'seller:a',
          network: claim.network,
          since: 0,
          until: NOW,
          limit: 9,
        }),
      ),
  ],
  ['getReceiptStanding', () => plansOf(commands.getReceiptStanding('rcp_a'))],
  ['getClaimResult', () => plansOf(commands.getClaimResult(claim.id))],
  ['countOpenClaims', () => plansOf(commands.countOpenClaims())],
  ['takeSettlement', () => plansOf(commands.takeSettlement(take), [found, [], found])],
  ['returnSettlement', () => plansOf(commands.returnSettlement(take), [found])],
  [
    'debitCredits',
    () =>
      plansOf(commands.debitCredits({ ...take, ...boot, amount: 1, reference: 'r', capabilityId: 'cap_a' }), [
        [],
        [{ balance: 1 }],
        [],
        found,
      ]),
  ],
  [
    'refundCredits',
    () =>
      plansOf(commands.refundCredits(take), [
        [{ accountId: 'acct_a', amount: -1, reference: 'r', createdAt: NOW }],
        [{ capabilityId: 'cap_a' }],
        [],
        found,
        found,
      ]),
  ],
  ...[[], found].map(
    (open) =>
      [
        'settleDebit',
        () => plansOf(commands.settleDebit({ ...take, receipt: receiptFor('acct_a') }), [open]),
      ] as const,
  ),
  [
    'recoverDebits',
    () =>
      plansOf(commands.recoverDebits(boot), [
        found,
        [{ transactionId: 'txn_1', accountId: 'acct_a' }],
        [{ accountId: 'acct_a', amount: -1, reference: 'r' }],
      ]),
  ],
  ['recoverAttempts', () => plansOf(commands.recoverAttempts(boot), [found, found])],
  ...([commands.recoverAttempts, commands.recoverClaims, commands.recoverDebits] as const).map(
    (recover) =>
      [
        'recover… of one row',
        () => plansOf(recover({ ...boot, id: 'one' }), [found, [{ transactionId: 'txn_1', accountId: 'a' }]]),
      ] as const,
  ),
  ...([commands.listUnfinishedAttempts, commands.listUnfinishedClaims, commands.listOpenDebits] as const).map(
    (list) => ['a page of what is not ended', () => plansOf(list({ ...boot, after: '', limit: 9 }))] as const,
  ),
  ['listDeadOwners', () => plansOf(commands.listDeadOwners(boot))],
  ['listAttemptsWithoutReceipt', () => plansOf(commands.listAttemptsWithoutReceipt(9))],
  ['preparePermit', preparing],
  ['sweep', () => plansOf(commands.sweep(NOW), [[], [], found])],
]

/** These indexes hold unfinished work only, so they stay small whatever was done before. */
const SMALL =
  /USING (COVERING )?INDEX (claims_unfinished|claims_doubtful|claims_watched|attempts_unfinished|attempts_unsigned|permits_open|open_debits_boot)\b/

const isTable = (plan: string) => /^(SCAN|SEARCH) [a-z]/.test(plan)

describe('plans of SQLite', () => {
  it.each(walks)('%s looks rows up', (_name, plans) => {
    const scans = plans().filter((plan) => /^SCAN [a-z]/.test(plan) && !SMALL.test(plan))
    expect(scans).toEqual([])
  })

  it('counts the open claims of a payer in an index that holds no others', () => {
    expect(plansOf(commands.findStanding(claim)).filter(isTable)).toEqual([
      expect.stringContaining('USING INDEX claims_open (payer=? AND network=? AND asset=?)'),
      expect.stringContaining('SEARCH payer_totals USING PRIMARY KEY (payer=? AND network=? AND asset=?)'),
    ])
  })

  it('looks for events that a clock told of ahead in an index that holds none that is put off', () => {
    expect(plansOf(commands.takeMarketEvents({ now: NOW, busyUntil: NOW, limit: 9 }))).toEqual([
      expect.stringContaining('market_events_due (next_at<?)'),
      expect.stringContaining('USING INDEX market_events_untried (created_at>?)'),
    ])
  })

  it('count permits that wait without reading what would be sent', () => {
    expect(preparing()).toContainEqual(expect.stringMatching(/^SEARCH permits USING COVERING INDEX/))
  })

  it.each<[state: PermitState, index: string]>([
    ['pending_approval', 'permits_pending'],
    ['ready', 'permits_ready'],
    ['refused', 'permits_refused'],
  ])('lists permits that are %s in their order, from an index that holds no others', (state, index) => {
    const plans = plansOf(
      commands.listPermits({ accountId: 'acct_a', state, now: NOW }, { limit: 9, before: 'pmt_9' }),
    )
    expect(plans).toEqual([expect.stringContaining(`USING INDEX ${index} (account_id=? AND id<?)`)])
  })

  it('lists entries and attempts in their order: of an account those that have their place, of all others the few that just came', () => {
    const page = { limit: 9, before: 'x_9' }
    expect(plansOf(sqliteCommands.ledger('acct_a', page)).filter(isTable)).toEqual([
      expect.stringContaining('SEARCH ledger_entries USING PRIMARY KEY (account=? AND transaction_id<?)'),
      expect.stringContaining('SEARCH ledger_arrivals USING PRIMARY KEY (transaction_id<?)'),
    ])
    for (const [filter, index] of [
      [{ accountId: 'acct_a' }, 'attempts_account (account_id=? AND id<?)'],
      [{ accountId: 'acct_a', capabilityId: 'cap_a' }, 'attempts_capability (capability_id=? AND id<?)'],
    ] as const) {
      const plans = plansOf(sqliteCommands.listAttempts(filter, page))
      expect(plans.filter(isTable)).toEqual([
        expect.stringContaining(`SEARCH attempts USING INDEX ${index}`),
        expect.stringContaining('SEARCH attempts USING INDEX attempts_unlisted (id<?)'),
      ])
      expect(plans.filter((plan) => plan.includes('TEMP'))).toEqual([])
    }
    expect(plansOf(mergeAttempts())).toEqual([expect.stringContaining('attempts_unlisted')])
  })

  it.each<[state: AttemptState, plan: string]>([
    ['reserved', 'SCAN attempts USING INDEX attempts_unfinished'],
    ['sending', 'SCAN attempts USING INDEX attempts_unfinished'],
    ['ambiguous', 'SEARCH attempts USING INDEX attempts_ambiguous (account_id=? AND id<?)'],
    ['refunded', 'SEARCH attempts USING INDEX attempts_refunded (account_id=? AND id<?)'],
  ])('lists attempts that are %s from an index that holds none that went well', (state, plan) => {
    for (const capabilityId of [undefined, 'cap_a']) {
      const filter = { accountId: 'acct_a', capabilityId, state }
      const plans = plansOf(sqliteCommands.listAttempts(filter, { limit: 9, before: 'x_9' }))
      expect(plans.filter(isTable)).toEqual([plan])
    }
  })

  it.each<[filter: Parameters<typeof commands.searchClaims>[0], plan: string]>([
    [{}, 'SEARCH payment_claims USING INDEX sqlite_autoindex_payment_claims_1 (id<?)'],
    [{ payer: '0xa' }, 'SEARCH payment_claims USING INDEX claims_of_payer (payer=? AND id<?)'],
    [
      { payer: '0xa', since: NOW, until: NOW + 1 },
      'SEARCH payment_claims USING INDEX claims_of_payer (payer=? AND id>? AND id<?)',
    ],
    [
      { payer: '0xa', tool: 'gateway.web.fetch' },
      'SEARCH payment_claims USING INDEX claims_of_payer (payer=? AND id>? AND id<?)',
    ],
    [{ state: 'failed' }, 'SEARCH payment_claims USING INDEX claims_unsettled (state=? AND id<?)'],
    [
      { state: 'unknown', network: 'eip155:1' },
      'SEARCH payment_claims USING INDEX claims_unsettled (state=? AND id>? AND id<?)',
    ],
    [
      { tool: 'gateway.web.fetch', minAmount: '5' },
      'SEARCH payment_claims USING INDEX sqlite_autoindex_payment_claims_1 (id>? AND id<?)',
    ],
  ])('lists payments of %o in their order, and sorts nothing', (filter, plan) => {
    const plans = plansOf(commands.searchClaims(filter, { limit: 9, before: 'clm_9' }), [[{ id: 'clm_1' }]])
    expect(plans.at(-1)).toBe(plan)
    expect(plans.filter((line) => !line.startsWith('SEARCH '))).toEqual([])
  })

  it('would show a walk through a table', () => {
    const scan = function* (): Command<void> {
      yield { text: `SELECT id FROM payment_claims WHERE state = 'claimed'`, values: [] }
    }
    expect(plansOf(scan())).toEqual([expect.stringMatching(/^SCAN payment_claims/)])
  })
})
