//! The service needs no framework: hyper is enough.

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use mcp_sub_tests::{Act, Client, Probe, Request, Tell, ToolsChanged};
use tokio::net::TcpListener;

#[tokio::test]
async fn a_stream_runs_over_bare_hyper() {
    let subscriptions = Probe::serve(|builder| builder);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = TowerToHyperService::new(subscriptions.http());
    let serving = tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let service = service.clone();
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(socket), service)
                    .await;
            });
        }
    });
    let request = Request::listen("1", r#"{"toolsListChanged":true}"#).target("/");
    let mut stream = Client::connect(address).await.send(&request).await;
    stream.acknowledged().await;
    subscriptions.publish(ToolsChanged);
    assert_eq!(stream.told().await, "tools");
    subscriptions.publish(Tell::new("1", Act::TellAndStop));
    assert_eq!([stream.told().await, stream.told().await], ["tools", "result"]);
    let mut stream = stream.into_client().await.send(&request).await;
    stream.acknowledged().await;
    stream.leave();
    subscriptions.handler().closed(2).await;
    serving.abort();
}
