// The receipt of a call, verified in the browser. What verifies is loaded with the first receipt: most visitors of a tool's page pay nothing,
// and it would be a sixth of the page.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Language } from '../../routes.ts'
import type { VerifiedReceiptProps } from '../verified-receipt.tsx'

type LazyReceiptProps = Omit<VerifiedReceiptProps, 'texts'> & { readonly language: Language }

type Drawing = (props: LazyReceiptProps) => VNode

async function loadDrawing(): Promise<Drawing> {
  const [{ VerifiedReceipt }, { proof }] = await Promise.all([
    import('../verified-receipt.tsx'),
    import('../../texts/proof.ts'),
  ])
  return (props) => <VerifiedReceipt {...props} texts={proof[props.language]} />
}

export function LazyReceipt(props: LazyReceiptProps): VNode {
  const [Drawn, setDrawn] = useState<Drawing>()
  useEffect(() => {
    // A function that is given to a state is taken for the way to its next value.
    loadDrawing().then(
      (drawing) => setDrawn(() => drawing),
      () => undefined,
    )
  }, [])
  return Drawn ? <Drawn {...props} /> : <span class="verified" />
}
