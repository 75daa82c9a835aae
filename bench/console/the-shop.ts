/** What the tasks are about: a shop that runs, a pod that does not, and a quota near its end. */
export const theShop = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: Namespace
metadata: { name: broken }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: few, namespace: broken }
spec: { hard: { count/secrets: "1" } }
---
apiVersion: v1
kind: Secret
metadata: { name: only, namespace: broken }
---
apiVersion: v1
kind: Pod
metadata: { name: lonely, namespace: broken }
spec: { containers: [{ name: app, image: "bad:1" }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop }
data: { greeting: hello }
---
apiVersion: v1
kind: Secret
metadata: { name: database, namespace: shop }
stringData: { password: only-for-the-shop }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "nginx:1.27" }] }
`;
