/** `hack/node hack/cluster/load-image.ts`: makes the image of the project and loads it into the node of `hack/backends up kubernetes-node`. */
import { loadProductImage, PRODUCT_IMAGE } from '../../e2e/testing/product-image.ts'

await loadProductImage()
console.log(PRODUCT_IMAGE)
