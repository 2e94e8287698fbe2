/** `hack/node hack/cluster/load-image.ts`: makes the image of the project and loads it into the node of `hack/backends up kubernetes-node`. */
import { BACKENDS } from '../../dataplane/testing/real/backends.ts'
import { loadProductImage, PRODUCT_IMAGE } from '../../e2e/testing/product-image.ts'

if (await BACKENDS['kubernetes-node'].isUp()) {
  await loadProductImage()
  console.log(PRODUCT_IMAGE)
} else {
  console.error('load-image: no node runs that could take the image: hack/backends up kubernetes-node')
  process.exitCode = 1
}
